-- The figures of the installation for GET /metrics, as one document. None of them names whose they are.
-- Meant to be asked every few seconds, also while millions of operations wait: where rows are counted, the first 10,000 are, and
-- the database's estimate stands for more; what is oldest is looked up by one index probe per environment or webhook.
-- Raises nothing, locks nothing.
create or replace function svc_api.metrics()
returns json
language sql
stable
security definer
set search_path = ''
-- Queues grow faster than their statistics.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
  with recursive waiting as (
    -- The oldest waiting operation of each environment that has any.
    (
      select i.environment_id, i.seq
      from svc.inbox as i
      where i.not_before is null
      order by i.environment_id, i.seq
      limit 1
    )
    union all
    select n.environment_id, n.seq
    from waiting as w
    cross join lateral (
      select i.environment_id, i.seq
      from svc.inbox as i
      where i.not_before is null and i.environment_id > w.environment_id
      order by i.environment_id, i.seq
      limit 1
    ) as n
  ),
  pending as (
    -- The first pending delivery of each webhook that has any.
    (
      select d.environment_id, d.webhook_id, d.next_attempt_at
      from svc.deliveries as d
      where d.status = 'pending'
      order by d.environment_id, d.webhook_id, d.next_attempt_at
      limit 1
    )
    union all
    select n.environment_id, n.webhook_id, n.next_attempt_at
    from pending as p
    cross join lateral (
      select d.environment_id, d.webhook_id, d.next_attempt_at
      from svc.deliveries as d
      where d.status = 'pending' and (d.environment_id, d.webhook_id) > (p.environment_id, p.webhook_id)
      order by d.environment_id, d.webhook_id, d.next_attempt_at
      limit 1
    ) as n
  ),
  enabled as (
    -- What is pending at a disabled webhook waits for whoever enables it.
    select p.*
    from pending as p
    cross join lateral (
      select
      from svc.webhooks as k
      where k.environment_id = p.environment_id and k.webhook_id = p.webhook_id and k.disabled_at is null and k.deleted_at is null
      limit 1
    ) as w
  ),
  counted as materialized (
    select
      (select count(*) from (select from svc.inbox as i where i.not_before is null limit 10000) as n) as operations,
      (
        select count(*)
        from (
          select
          from enabled as e
          cross join lateral (
            select
            from svc.deliveries as d
            where d.environment_id = e.environment_id and d.webhook_id = e.webhook_id and d.status = 'pending'
            limit 10000
          ) as n
          limit 10000
        ) as n
      ) as deliveries
  )
  select json_build_object(
    'pendingOperations', case
      when c.operations < 10000 then c.operations
      else greatest(c.operations, pg_catalog.pg_stat_get_live_tuples('svc.inbox'::regclass))
    end,
    'oldestPendingSeconds', coalesce((
      select greatest(0, extract(epoch from now() - min(b.accepted_at)))
      from waiting as w
      cross join lateral (
        select k.accepted_at
        from svc.ingest_batches as k
        where k.environment_id = w.environment_id and k.batch_seq = w.seq >> 10
        limit 1
      ) as b
    ), 0),
    'setAsideCustomers', (
      select count(*) from (select from svc.customers as k where k.set_aside_at is not null limit 10000) as n
    ),
    'quarantinedOperations', (select coalesce(sum(q.operations), 0) from svc.quarantines as q),
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
    'workers', (select count(*) from svc.workers as w where w.seen_at > now() - interval '30 seconds'),
    'recomputes', (
      select coalesce(json_agg(json_build_object('kind', q.kind, 'status', q.status, 'recomputes', q.recomputes)), '[]')
      from (
        select r.kind, r.status, count(*) as recomputes
        from svc.recomputes as r
        where r.status <> 'completed' and (r.finished_at is null or r.finished_at > now() - interval '1 day')
        group by r.kind, r.status
      ) as q
    ),
    'recomputeCustomers', (
      select json_build_object('all', coalesce(sum(r.customers_total), 0), 'done', coalesce(sum(r.customers_done), 0))
      from svc.recomputes as r
      where r.status in ('queued', 'running', 'retrying')
    ),
    'deliveries', json_build_object(
      'pending', case
        when c.deliveries < 10000 then c.deliveries
        else greatest(c.deliveries, (select i.reltuples from pg_catalog.pg_class as i where i.oid = 'svc.deliveries_pending_idx'::regclass))
      end,
      'oldestDueSeconds', coalesce((select greatest(0, extract(epoch from now() - min(e.next_attempt_at))) from enabled as e), 0)
    ),
    'webhooks', (
      select json_build_object(
        'disabled', count(*) filter (where w.disabled_at is not null),
        'failing', count(*) filter (where w.disabled_at is null and w.failing_since is not null)
      )
      from svc.webhooks as w
      where w.deleted_at is null
    ),
    'connections', (
      select coalesce(json_agg(json_build_object('application', q.application, 'connections', q.connections)), '[]')
      from (
        -- Of others the name is whatever they say, so it is left out.
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
  )
  from counted as c;
$$;

comment on function svc_api.metrics() is 'The figures of the installation for GET /metrics; none of them names whose they are.';
