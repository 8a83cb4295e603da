-- Finds a job by its id: a recompute or dry run ('recompute'), a preview or a backtest. A job of another kind is not found.
-- Raises SV004 RECOMPUTE_NOT_FOUND, PREVIEW_NOT_FOUND or BACKTEST_NOT_FOUND. Locks nothing.
create or replace function svc.find_job(environment_id integer, job_id text, kind text)
returns svc.recomputes
language plpgsql
stable
set search_path = ''
as $$
declare
  _job svc.recomputes;
begin
  select r.* into _job
  from svc.recomputes as r
  where r.environment_id = find_job.environment_id and r.recompute_id = find_job.job_id
    and find_job.kind = case r.kind when 'dry_run' then 'recompute' else r.kind end;
  if found then
    return _job;
  end if;
  case find_job.kind
    when 'recompute' then
      perform svc.raise_not_found(
        'RECOMPUTE_NOT_FOUND', 'recompute', find_job.job_id, 'in this environment',
        'Check the id and the environment; GET /projects/:project/recomputes lists all of them.'
      );
    when 'preview' then
      perform svc.raise_not_found(
        'PREVIEW_NOT_FOUND', 'preview', find_job.job_id, 'in this environment',
        'Check the id and the environment, or make a new one: POST /projects/:project/previews.'
      );
    when 'backtest' then
      perform svc.raise_not_found(
        'BACKTEST_NOT_FOUND', 'backtest', find_job.job_id, 'in this environment',
        'Check the id and the environment; GET /projects/:project/backtests lists all of them.'
      );
  end case;
end;
$$;

comment on function svc.find_job(integer, text, text) is 'A recompute, preview or backtest; raises …_NOT_FOUND.';
