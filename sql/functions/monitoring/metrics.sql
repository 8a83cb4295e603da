-- The figures of the installation for GET /metrics, as one document. None identifies an organization.
-- Designed to be called every few seconds, even while millions of operations wait: at most 10,000 rows are counted, beyond that the
-- database's estimate is used; the oldest row is found by one index probe per environment or webhook. Frozen environments are not counted,
-- as nothing can be done about them here; only an estimate includes them.
-- Raises 55P03 if a table is locked as a whole for three seconds, locks nothing.
create or replace function svc_api.metrics()
returns json
language plpgsql
stable
security definer
set search_path = ''
-- Queues grow faster than their statistics.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
-- Less than the timeout of the whole call, so that the log shows that a lock is the cause.
set lock_timeout = '3s'
as $$
declare
  -- Frozen environments wait on purpose.
  _frozen constant integer[] := array(select e.environment_id from svc.environments as e where e.frozen_at is not null);
  _waiting integer[];
  _oldest timestamptz;
  _operations bigint;
  _deliveries bigint;
  _oldest_due timestamptz;
  _set_aside constant bigint := (
    select count(*)
    from (
      select 1 from svc.customers as k where k.set_aside_at is not null and k.environment_id <> all(_frozen) limit 10000
    ) as n
  );
  _quarantined constant bigint := (
    select coalesce(sum(q.operations), 0) from svc.quarantines as q where q.environment_id <> all(_frozen)
  );
  _recomputes json;
  _recompute_customers json;
  _webhooks json;
begin
  -- The oldest waiting operations of each environment that has any.
  select array_agg(h.environment_id) filter (where p.waits or l.waits), min(least(p.accepted_at, l.accepted_at)) into _waiting, _oldest
  from svc.homes as h
  left join lateral (
    select true as waits, k.accepted_at
    from svc.inbox as i
    left join svc.ingest_batches as k on k.environment_id = i.environment_id and k.batch_seq = i.seq >> 10
    where i.environment_id = h.environment_id and not i.late and i.not_before is null
    order by i.seq
    limit 1
  ) as p on true
  left join lateral (
    select true as waits, k.accepted_at
    from svc.inbox as i
    left join svc.ingest_batches as k on k.environment_id = i.environment_id and k.batch_seq = i.seq >> 10
    where i.environment_id = h.environment_id and i.late and i.not_before is null
    order by i.seq
    limit 1
  ) as l on true
  where h.environment_id <> all(_frozen);
  select count(*) into _operations
  from (
    select 1 from svc.inbox as i where i.environment_id = any(_waiting) and i.not_before is null limit 10000
  ) as n;

  -- Pending deliveries of disabled webhooks are not counted: they wait until the webhook is enabled.
  select count(*) into _deliveries
  from (
    select 1
    from svc.webhooks as w
    cross join lateral (
      select 1
      from svc.deliveries as d
      where d.environment_id = w.environment_id and d.webhook_id = w.webhook_id and d.status = 'pending'
      limit 10000
    ) as n
    where w.disabled_at is null and w.deleted_at is null and w.environment_id <> all(_frozen)
    limit 10000
  ) as n;
  select min(d.next_attempt_at) into _oldest_due
  from svc.webhooks as w
  cross join lateral (
    select k.next_attempt_at
    from svc.deliveries as k
    where k.environment_id = w.environment_id and k.webhook_id = w.webhook_id and k.status = 'pending'
    order by k.next_attempt_at
    limit 1
  ) as d
  where w.disabled_at is null and w.deleted_at is null and w.environment_id <> all(_frozen);

  select coalesce(json_agg(json_build_object('kind', q.kind, 'status', q.status, 'recomputes', q.recomputes)), '[]') into _recomputes
  from (
    select r.kind, r.status, count(*) as recomputes
    from svc.recomputes as r
    where r.status <> 'completed'
      -- Without failures it was cancelled, which somebody wanted.
      and (r.finished_at is null or r.finished_at > now() - interval '1 day' and r.failures > 0)
    group by r.kind, r.status
  ) as q;
  select json_build_object('all', coalesce(sum(r.customers_total), 0), 'done', coalesce(sum(r.customers_done), 0))
  into _recompute_customers
  from svc.recomputes as r
  where r.status in ('queued', 'running', 'retrying');
  select json_build_object(
    'disabled', count(*) filter (where w.disabled_at is not null),
    'failing', count(*) filter (where w.disabled_at is null and w.failing_since is not null)
  )
  into _webhooks
  from svc.webhooks as w
  where w.deleted_at is null and w.environment_id <> all(_frozen);

  return json_build_object(
    'pendingOperations', case
      when _operations < 10000 then _operations
      else greatest(_operations, pg_catalog.pg_stat_get_live_tuples('svc.inbox'::regclass))
    end,
    'oldestPendingSeconds', coalesce(greatest(0, extract(epoch from now() - _oldest)), 0),
    'setAsideCustomers', _set_aside,
    'quarantinedOperations', _quarantined,
    'jobs', (
      select coalesce(json_agg(json_build_object('task', q.task, 'state', q.state, 'jobs', q.jobs)), '[]')
      from (
        select
          j.task_identifier as task,
          case
            when j.locked_at is not null then 'running'
            when j.attempts >= j.max_attempts then 'failed'
            when j.run_at > now() then 'waiting'
            else 'ready'
          end as state,
          count(*) as jobs
        from (select * from graphile_worker.jobs limit 10000) as j
        group by 1, 2
      ) as q
    ),
    'workers', (select count(*) from svc.workers as w where svc.is_alive(w.seen_at)),
    'recomputes', _recomputes,
    'recomputeCustomers', _recompute_customers,
    'deliveries', json_build_object(
      'pending', case
        when _deliveries < 10000 then _deliveries
        else greatest(_deliveries, (select i.reltuples from pg_catalog.pg_class as i where i.oid = 'svc.deliveries_pending_idx'::regclass))
      end,
      'oldestDueSeconds', coalesce(greatest(0, extract(epoch from now() - _oldest_due)), 0)
    ),
    'webhooks', _webhooks,
    'connections', (
      select coalesce(json_agg(json_build_object('application', q.application, 'connections', q.connections)), '[]')
      from (
        -- Names of other applications are arbitrary, so they are left out.
        select case when a.application_name like 'svc %' then a.application_name else 'other' end as application, count(*) as connections
        from pg_catalog.pg_stat_activity as a
        where a.datname = current_database()
        group by 1
      ) as q
    ),
    'connectionsMax', pg_catalog.current_setting('max_connections')::integer,
    'counters', (
      select coalesce(json_agg(json_build_object('counter', k.counter, 'label', k.label, 'bucket', k.bucket, 'value', k.value)), '[]')
      from svc.worker_counters as k
    )
  );
end;
$$;

comment on function svc_api.metrics() is 'The figures of the installation for GET /metrics; none identifies an organization.';
