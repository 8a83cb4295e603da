-- Checks that no recompute, dry run, preview or backtest of an environment is in progress: its worker would continue in this database.
-- Raises SV005 RECOMPUTE_UNDER_WAY. Locks nothing.
create or replace function svc.require_finished(environment_id integer)
returns void
language plpgsql
stable
set search_path = ''
as $$
declare
  _job record;
begin
  select r.recompute_id, r.kind into _job
  from svc.recomputes as r
  where r.environment_id = require_finished.environment_id and r.status in ('queued', 'running', 'retrying')
  order by r.recompute_seq
  limit 1;
  if found then
    raise exception using
      errcode = 'SV005',
      message = 'RECOMPUTE_UNDER_WAY',
      detail = jsonb_build_object(
        'message', format('The %s %s of this environment is not finished.', replace(_job.kind, '_', ' '), _job.recompute_id),
        'fix', case
          when _job.kind in ('recompute', 'dry_run')
            then format(
              'Wait until it is, or cancel it (svc recompute cancel %s --env %s), then repeat.', _job.recompute_id,
              (select e.name from svc.environments as e where e.environment_id = require_finished.environment_id)
            )
          else 'Wait until it is, then repeat.'
        end
      )::text;
  end if;
end;
$$;

comment on function svc.require_finished(integer) is
  'Raises RECOMPUTE_UNDER_WAY while a recompute, preview or backtest of an environment is not finished.';
