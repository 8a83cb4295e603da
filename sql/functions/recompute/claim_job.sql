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
  -- Attempts wait for a minute at most: a later one is from before the clock was set back.
  _latest constant timestamptz := now() + interval '1 minute';
  _environments integer[];
  _lanes integer[];
  _next_attempts timestamptz[];
  _running bigint[];
  _queue record;
  _job svc.recomputes;
  _failures integer;
begin
  -- Release what a claim that failed half-way left behind.
  perform pg_advisory_unlock_all();
  select array_agg(q.environment_id), array_agg(q.lane), array_agg(q.next_attempt_at), array_agg(q.running)
  into _environments, _lanes, _next_attempts, _running
  from (
    select
      r.environment_id, svc.recompute_lane(r.kind) as lane,
      -- That of the oldest job.
      (array_agg(r.next_attempt_at order by r.recompute_seq))[1] as next_attempt_at,
      count(*) filter (where r.status = 'running') as running
    from svc.recomputes as r
    where r.status in ('queued', 'running', 'retrying')
    group by r.environment_id, svc.recompute_lane(r.kind)
  ) as q;

  for _queue in
    select q.environment_id, q.lane, q.next_attempt_at
    from (
      select
        u.environment_id, u.lane, u.next_attempt_at,
        -- Over the whole organization, however many environments it has.
        sum(u.running) over (partition by p.organization_id) as running
      from unnest(_environments, _lanes, _next_attempts, _running) as u (environment_id, lane, next_attempt_at, running)
      join svc.environments as e on e.environment_id = u.environment_id
      join svc.projects as p on p.project_id = e.project_id
    ) as q
    -- An organization with many queued jobs does not keep others waiting.
    order by q.running, random()
  loop
    continue when _queue.next_attempt_at between now() and _latest or svc.is_recompute_held(_queue.environment_id, _queue.lane)
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
