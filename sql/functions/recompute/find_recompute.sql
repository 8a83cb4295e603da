-- Finds a recompute or dry run by its id. A preview or backtest is none.
-- Raises SV004 RECOMPUTE_NOT_FOUND. Locks nothing.
create or replace function svc.find_recompute(environment_id integer, recompute_id text)
returns svc.recomputes
language plpgsql
stable
set search_path = ''
as $$
declare
  _recompute svc.recomputes;
begin
  select r.* into _recompute
  from svc.recomputes as r
  where r.environment_id = find_recompute.environment_id and r.recompute_id = find_recompute.recompute_id
    and r.kind in ('recompute', 'dry_run');
  if not found then
    raise exception using
      errcode = 'SV004',
      message = 'RECOMPUTE_NOT_FOUND',
      detail = jsonb_build_object(
        'message', format('There is no recompute "%s" in this environment.', left(find_recompute.recompute_id, 256)),
        'fix', 'Check the id and the environment; GET /projects/:project/recomputes lists all of them.'
      )::text;
  end if;
  return _recompute;
end;
$$;

comment on function svc.find_recompute(integer, text) is 'A recompute or dry run; raises RECOMPUTE_NOT_FOUND.';
