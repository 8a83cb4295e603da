-- The warnings of svc.stranded_data about a snapshot that is to become active, to be shown if they are ignored.
-- Raises SV005 CONFIG_WARNINGS with all warnings if there are any and force is false. Locks nothing.
create or replace function svc.require_force(environment_id integer, snapshot json, force boolean)
returns jsonb
language plpgsql
stable
set search_path = ''
as $$
declare
  _warnings constant jsonb := svc.stranded_data(require_force.environment_id, require_force.snapshot);
begin
  if _warnings <> '[]' and not require_force.force then
    raise exception using
      errcode = 'SV005',
      message = 'CONFIG_WARNINGS',
      detail = jsonb_build_object(
        'message', format(
          'This version would strand data: %s.', svc.count_text(jsonb_array_length(_warnings), 'warning', 'warnings')
        ),
        'fix', 'Keep in the model what warnings name, or go on despite them with `force: true`.',
        'warnings', _warnings
      )::text;
  end if;
  return _warnings;
end;
$$;

comment on function svc.require_force(integer, json, boolean) is 'Warnings about stranded data; raises CONFIG_WARNINGS unless forced.';
