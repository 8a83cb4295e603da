-- Finds a preview by its id. A recompute is none.
-- Raises SV004 PREVIEW_NOT_FOUND. Locks nothing.
create or replace function svc.find_preview(environment_id integer, preview_id text)
returns svc.recomputes
language plpgsql
stable
set search_path = ''
as $$
declare
  _preview svc.recomputes;
begin
  select r.* into _preview
  from svc.recomputes as r
  where r.environment_id = find_preview.environment_id and r.recompute_id = find_preview.preview_id and r.kind = 'preview';
  if not found then
    raise exception using
      errcode = 'SV004',
      message = 'PREVIEW_NOT_FOUND',
      detail = jsonb_build_object(
        'message', format('There is no preview "%s" in this environment.', left(find_preview.preview_id, 256)),
        'fix', 'Check the id and the environment, or make a new one: POST /projects/:project/previews.'
      )::text;
  end if;
  return _preview;
end;
$$;

comment on function svc.find_preview(integer, text) is 'A preview; raises PREVIEW_NOT_FOUND.';
