-- Requests an evaluation of environments, unless an untaken job for it is visible. The job is looked for without a lock, so that
-- concurrent ingestion never queues on one row; if it is taken just before the caller's rows become visible, the worker searches again
-- shortly after (svc.may_have_missed_operations). A failed job whose next attempt is near counts, too: otherwise each call and each tick
-- would add another one while all of them fail.
-- Raises nothing, locks nothing.
create or replace function svc.request_evaluation(environment_ids integer[])
returns void
language plpgsql
volatile
set search_path = ''
-- Force index scans, whatever the statistics say.
set enable_seqscan = off
-- Planning takes ten times as long as the work.
set plan_cache_mode = force_generic_plan
as $$
declare
  _without_job constant integer[] := array(
    select e.environment_id
    from unnest(request_evaluation.environment_ids) as u (environment_id)
    join svc.environments as e on e.environment_id = u.environment_id
    join svc.projects as p on p.project_id = e.project_id
    where not exists (
      select 1
      from (
        select j.is_available, j.run_at, j.attempts
        from graphile_worker._private_jobs as j
        where j.key between svc.evaluation_key(p.organization_id, e.environment_id, 0)
          and svc.evaluation_key(p.organization_id, e.environment_id, 999999999999999)
        -- Looked up by key, not among all that are available.
        offset 0
      ) as w
      where w.is_available and w.run_at <= now() + case when w.attempts > 0 then interval '20 seconds' else interval '0' end
    )
  );
begin
  if _without_job <> '{}' then
    -- Ahead of svc_api.continue_evaluation, and behind other tasks: the places of evaluations are earlier than when these were added.
    perform svc.add_evaluations(_without_job, 1);
  end if;
end;
$$;

comment on function svc.request_evaluation(integer[]) is 'Enqueues an evaluate job per environment that has no untaken one.';
