-- Claims a job that no session holds: of any environment and any of its queues the oldest unfinished one, unless it waits for its next
-- attempt; those behind it wait with it. Answers null if there is none, else {recomputeId, environmentId, kind, customerId, projectId,
-- version, hash, snapshot, snapshotHash, question, keptFrom (ms), pinnedAt (ms), sampleShare, attempt, customersDone, lastCustomerId}. The
-- session holds the job until svc_api.release_recompute or the end of the connection; so the job of a killed worker is claimed again at
-- once. Such an end counts as a failure, unless the job made progress.
-- Raises nothing. Locks the unfinished jobs of its queue, without waiting, and an advisory lock that shows that the session lives.
create or replace function svc_api.claim_job(attempts_max integer)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  -- As in svc.job_queues.
  _latest constant timestamptz := now() + interval '1 minute';
  _queue record;
  _job svc.recomputes;
  _failures integer;
begin
  -- Release what a claim that failed half-way left behind.
  perform pg_advisory_unlock_all();
  for _queue in
    select q.environment_id, q.lane, q.is_due
    from svc.job_queues() as q
    -- An organization with many queued jobs, in however many environments, does not keep others waiting.
    order by sum(q.running) over (partition by q.organization_id), random()
  loop
    continue when not _queue.is_due or svc.is_recompute_held(_queue.environment_id, _queue.lane)
      or not svc.lock_recomputes(_queue.environment_id, _queue.lane);

    -- Check again: the session that had it locked until now may have claimed or ended a job.
    continue when svc.is_recompute_held(_queue.environment_id, _queue.lane);
    select * into _job
    from svc.recomputes as r
    where r.environment_id = _queue.environment_id and svc.recompute_lane(r.kind) = _queue.lane
      and r.status in ('queued', 'running', 'retrying')
    order by r.recompute_seq
    limit 1;

    if found and (_job.next_attempt_at between now() and _latest) is not true then
      _failures := case
        when _job.status <> 'running' then _job.failures
        when _job.customers_done > _job.done_at_attempt then 1
        else _job.failures + 1
      end;
      if _failures < claim_job.attempts_max or _job.status <> 'running' or _job.customers_done > _job.done_at_attempt then
        return svc.start_recompute(_job, _failures);
      end if;
      begin
        perform svc.end_failed_recompute(_job, _failures, format('The worker ended %s times without progress.', _failures));
      exception when others then
        -- A job that cannot even be given up waits and is tried again, without blocking the jobs of others.
        update svc.recomputes as r
        set
          status = 'retrying', failures = _failures, next_attempt_at = now() + interval '1 minute',
          error = left('Giving it up failed: ' || sqlerrm, 2000)
        where r.environment_id = _job.environment_id and r.recompute_id = _job.recompute_id;
      end;
    end if;
  end loop;
  return null;
end;
$$;

comment on function svc_api.claim_job(integer) is 'Claims a job that no session holds, and holds it for this session.';
