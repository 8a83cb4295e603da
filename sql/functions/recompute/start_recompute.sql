-- Begins the next attempt of a job whose row is locked, and answers what a worker needs to know of it. The first attempt counts the
-- customers and computes the share of a sample; a backtest evaluates at most 100,000, because it stores results for each. Each attempt
-- records since when the history of its customers is complete.
-- Raises nothing. Locks the job's row, those of its queue with status running, and an advisory lock for the session.
create or replace function svc.start_recompute(job svc.recomputes, failures integer)
returns json
language plpgsql
volatile
set search_path = ''
as $$
declare
  _job svc.recomputes := start_recompute.job;
  _sample_size integer;
  _kept_from constant timestamptz := svc.retained_from((start_recompute.job).environment_id);
  _key integer;
  _pid constant integer := pg_backend_pid();
  _now timestamptz;
begin
  if _job.customers_total is null then
    select count(*) into _job.customers_total
    from svc.customers as c
    where c.environment_id = _job.environment_id and svc.existed_at(c.created_at, _job.pinned_at)
      and (_job.customer_id is null or c.customer_id = _job.customer_id);
    _sample_size := least(_job.sample_size, case when _job.kind = 'backtest' then 100000 end);
    if _sample_size < _job.customers_total then
      _job.sample_share := _sample_size::float8 / _job.customers_total;
      select count(*) into _job.customers_total
      from svc.customers as c
      where c.environment_id = _job.environment_id and svc.existed_at(c.created_at, _job.pinned_at)
        and svc.is_sampled(c.customer_id, _job.sample_share);
    end if;
  end if;

  -- Retention goes on between two attempts.
  if _kept_from is not null and exists (
    select from svc.customers as c
    where c.environment_id = _job.environment_id and svc.existed_at(c.created_at, _job.pinned_at) and c.created_at < _kept_from
      and (_job.customer_id is null or c.customer_id = _job.customer_id)
  ) then
    _job.exact_from := _kept_from;
  end if;

  -- A random key, which no other session could predict and hold.
  loop
    _key := floor(random() * 2147483647);
    exit when pg_try_advisory_lock(7501, _key);
  end loop;

  -- A retried job precedes one that may be running although its lock is gone: that one is queued again, and what it still writes is
  -- refused.
  update svc.recomputes as r
  set status = 'queued', attempt = r.attempt + 1
  where r.environment_id = _job.environment_id and r.status = 'running' and r.recompute_id <> _job.recompute_id
    and svc.recompute_lane(r.kind) = svc.recompute_lane(_job.kind);

  -- The clock, not the start of the transaction: the claim may have waited for the previous job, which has ended by now.
  _now := clock_timestamp();
  update svc.recomputes as r
  set
    status = 'running',
    attempt = r.attempt + 1,
    holder_pid = _pid,
    holder_key = _key,
    failures = start_recompute.failures,
    done_at_attempt = r.customers_done,
    next_attempt_at = null,
    started_at = coalesce(r.started_at, _now),
    exact_from = _job.exact_from,
    customers_total = _job.customers_total,
    sample_share = _job.sample_share
  where r.environment_id = _job.environment_id and r.recompute_id = _job.recompute_id
  returning * into _job;

  return (
    select json_build_object(
      'recomputeId', _job.recompute_id,
      'environmentId', _job.environment_id,
      'kind', _job.kind,
      'customerId', _job.customer_id,
      'projectId', e.project_id,
      'version', _job.version,
      'hash', v.hash,
      'snapshot', _job.snapshot,
      'snapshotHash', _job.hash,
      'question', _job.question,
      'keptFrom', svc.epoch_ms(_kept_from),
      'pinnedAt', svc.epoch_ms(_job.pinned_at),
      'sampleShare', _job.sample_share,
      'attempt', _job.attempt,
      'customersDone', _job.customers_done,
      'lastCustomerId', _job.last_customer_id
    )
    from svc.environments as e
    left join svc.config_versions as v on v.project_id = e.project_id and v.version = _job.version
    where e.environment_id = _job.environment_id
  );
end;
$$;

comment on function svc.start_recompute(svc.recomputes, integer) is 'Begins the next attempt of a recompute.';
