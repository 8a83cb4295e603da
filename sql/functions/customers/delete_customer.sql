-- Deletes all data of one customer, and answers the number of rows of each kind. An operation accepted meanwhile is deleted or kept
-- together with its inbox row: one statement deletes both, and sees both or neither of a call's. An evaluation of the customer is waited
-- for, and later ones skip it until this ends. Recomputes of this customer alone are deleted; others that stopped at it resume after the
-- one before.
-- Raises SV004 CUSTOMER_NOT_FOUND if nothing was evaluated, waits or is in quarantine, and no recompute of it was requested. Locks the
-- customer's row; in their order, the environment's recomputes that are in progress or were given up; its emissions and its pending
-- deliveries in key order, then all that it deletes; the environment's rows of svc.quarantines and, without waiting,
-- svc.suspect_environments; last, in key order, the kinds of schema violations whose latest operation was the customer's.
create or replace function svc.delete_customer(environment_id integer, customer_id text)
returns json
language plpgsql
volatile
set search_path = ''
-- Force look-ups by key, whatever the statistics say; that is also why rows are looked up laterally with a limit.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  _now constant timestamptz := now();
  _name constant text := to_json(delete_customer.customer_id)::text;
  _new integer;
  _deleted json;
  _seqs bigint[];
  _retired_keys integer;
  _held bigint[];
  _quarantined integer;
begin
  loop
    -- If the customer has only waiting operations, a worker may be inserting its row: this waits for it.
    insert into svc.customers (environment_id, customer_id, created_at)
    values (delete_customer.environment_id, delete_customer.customer_id, _now)
    on conflict do nothing
    returning 1 into _new;
    perform from svc.customers as c
    where c.environment_id = delete_customer.environment_id and c.customer_id = delete_customer.customer_id
    for update;
    -- Another erasure may have deleted the row in between.
    exit when found;
  end loop;

  if _new = 1 and not exists (
    select 1 from svc.inbox as i
    where i.environment_id = delete_customer.environment_id and i.customer_id = delete_customer.customer_id
  ) and not exists (
    select 1 from svc.recomputes as r
    where r.environment_id = delete_customer.environment_id and r.customer_id = delete_customer.customer_id
  ) and not exists (
    select 1 from svc.quarantined_operations as q
    where q.environment_id = delete_customer.environment_id and q.customer_id = delete_customer.customer_id
  ) then
    perform svc.raise_customer_not_found(delete_customer.customer_id);
  end if;

  -- A recompute emits what it wrote of the customer while it holds its own row. Wait for emissions in progress, so that the deletion
  -- below sees their deliveries. Lock all recomputes, not only those that will change, so that each of several concurrent erasures sees
  -- which customers the others erased.
  perform from svc.recomputes as r
  where r.environment_id = delete_customer.environment_id and r.status <> 'completed' and r.last_customer_id is not null
  order by r.recompute_seq
  for update;

  -- In the same order as svc_api.resend_deliveries, which may be about to add deliveries of them that the deletion below would not see.
  perform from svc.emissions as m
  where m.environment_id = delete_customer.environment_id and m.customer_id = delete_customer.customer_id
  order by m.emission_seq
  for update;

  -- In the same order as svc_api.record_attempts, so that the two cannot deadlock.
  perform from svc.emissions as m
  join svc.webhooks as w on w.environment_id = delete_customer.environment_id
  cross join lateral (
    select k.webhook_id, k.emission_seq
    from svc.deliveries as k
    where k.environment_id = delete_customer.environment_id and k.webhook_id = w.webhook_id and k.emission_seq = m.emission_seq
      and k.status = 'pending'
    limit 1
  ) as p
  join svc.deliveries as d
    on d.environment_id = delete_customer.environment_id and d.webhook_id = p.webhook_id and d.emission_seq = p.emission_seq
  where m.environment_id = delete_customer.environment_id and m.customer_id = delete_customer.customer_id
  order by d.webhook_id, d.emission_seq
  for update of d;

  perform svc.count_erasure(delete_customer.environment_id, delete_customer.customer_id);

  with deleted_events as (
    delete from svc.events as e
    where e.environment_id = delete_customer.environment_id and e.customer_id = delete_customer.customer_id
    returning e.event_seq, e.idempotency_key
  ),
  deleted_identifies as (
    delete from svc.trait_updates as t
    where t.environment_id = delete_customer.environment_id and t.customer_id = delete_customer.customer_id
    returning t.operation_seq, t.idempotency_key
  ),
  deleted_inbox as (
    delete from svc.inbox as i
    where i.environment_id = delete_customer.environment_id and i.customer_id = delete_customer.customer_id
    returning 1
  ),
  deleted_keys as (
    delete from svc.idempotency_keys as k
    where k.environment_id = delete_customer.environment_id and k.ctid = any(array(
      select p.ctid
      from (
        select d.event_seq, d.idempotency_key from deleted_events as d
        union all
        select t.operation_seq, t.idempotency_key from deleted_identifies as t
      ) as e
      cross join lateral (
        select i.ctid
        from svc.idempotency_keys as i
        where i.environment_id = delete_customer.environment_id
          and i.idempotency_key = e.idempotency_key
          and i.event_seq = e.event_seq
        limit 1
      ) as p
    ))
    returning 1
  ),
  deleted_transitions as (
    delete from svc.lifecycle_transitions as t
    where t.environment_id = delete_customer.environment_id and t.customer_id = delete_customer.customer_id
    returning 1
  ),
  deleted_blocked as (
    delete from svc.blocked_transitions as b
    where b.environment_id = delete_customer.environment_id and b.customer_id = delete_customer.customer_id
    returning 1
  ),
  deleted_memberships as (
    delete from svc.segment_memberships as m
    where m.environment_id = delete_customer.environment_id and m.customer_id = delete_customer.customer_id
    returning 1
  ),
  deleted_runs as (
    delete from svc.journey_runs as j
    where j.environment_id = delete_customer.environment_id and j.customer_id = delete_customer.customer_id
    returning 1
  ),
  deleted_scores as (
    delete from svc.health_scores as h
    where h.environment_id = delete_customer.environment_id and h.customer_id = delete_customer.customer_id
    returning 1
  ),
  deleted_executions as (
    delete from svc.rule_executions as x
    where x.environment_id = delete_customer.environment_id and x.customer_id = delete_customer.customer_id
    returning 1
  ),
  deleted_superseded as (
    delete from svc.superseded_logs as l
    where l.environment_id = delete_customer.environment_id and l.customer_id = delete_customer.customer_id
  ),
  deleted_signals as (
    delete from svc.signals as s
    where s.environment_id = delete_customer.environment_id and s.customer_id = delete_customer.customer_id
    returning 1
  ),
  deleted_emissions as (
    delete from svc.emissions as m
    where m.environment_id = delete_customer.environment_id and m.customer_id = delete_customer.customer_id
    returning m.emission_seq
  ),
  delivery as materialized (
    select d.ctid, d.webhook_id, d.emission_seq
    from deleted_emissions as m
    cross join (
      select k.webhook_id from svc.webhooks as k where k.environment_id = delete_customer.environment_id
    ) as w
    cross join lateral (
      select k.ctid, k.webhook_id, k.emission_seq
      from svc.deliveries as k
      where k.environment_id = delete_customer.environment_id and k.webhook_id = w.webhook_id and k.emission_seq = m.emission_seq
      limit 1
    ) as d
  ),
  deleted_attempts as (
    delete from svc.delivery_attempts as a
    where a.environment_id = delete_customer.environment_id and a.ctid = any(array(
      select k.ctid
      from delivery as d
      cross join lateral (
        select i.ctid
        from svc.delivery_attempts as i
        where i.environment_id = delete_customer.environment_id
          and i.webhook_id = d.webhook_id
          and i.emission_seq = d.emission_seq
        -- Keeps this a look-up by key, not a join.
        offset 0
      ) as k
    ))
    returning 1
  ),
  deleted_bodies as (
    delete from svc.delivery_bodies as b
    where b.environment_id = delete_customer.environment_id and b.ctid = any(array(
      select k.ctid
      from delivery as d
      cross join lateral (
        select i.ctid
        from svc.delivery_bodies as i
        where i.environment_id = delete_customer.environment_id
          and i.webhook_id = d.webhook_id
          and i.emission_seq = d.emission_seq
        limit 1
      ) as k
    ))
  ),
  deleted_deliveries as (
    delete from svc.deliveries as d
    where d.environment_id = delete_customer.environment_id and d.ctid = any(array(select k.ctid from delivery as k))
    returning 1
  ),
  deleted_results as (
    delete from svc.recompute_customers as r
    where r.environment_id = delete_customer.environment_id and r.customer_id = delete_customer.customer_id
    returning 1
  ),
  deleted_recomputes as (
    delete from svc.recomputes as r
    where r.environment_id = delete_customer.environment_id and r.customer_id = delete_customer.customer_id
    returning 1
  ),
  deleted_customer as (
    delete from svc.customers as c
    where c.environment_id = delete_customer.environment_id and c.customer_id = delete_customer.customer_id
    returning 1
  )
  select
    json_build_object(
      'events', (select count(*) from deleted_events),
      'identifies', (select count(*) from deleted_identifies),
      'pending', (select count(*) from deleted_inbox),
      'idempotencyKeys', (select count(*) from deleted_keys),
      'transitions', (select count(*) from deleted_transitions),
      'blockedTransitions', (select count(*) from deleted_blocked),
      'memberships', (select count(*) from deleted_memberships),
      'journeyRuns', (select count(*) from deleted_runs),
      'healthScores', (select count(*) from deleted_scores),
      'ruleExecutions', (select count(*) from deleted_executions),
      'signals', (select count(*) from deleted_signals),
      'emissions', (select count(*) from deleted_emissions),
      'deliveries', (select count(*) from deleted_deliveries),
      'deliveryAttempts', (select count(*) from deleted_attempts),
      'recomputes', (select count(*) from deleted_recomputes),
      'recomputeResults', (select count(*) from deleted_results)
    ),
    array(select e.event_seq from deleted_events as e union all select t.operation_seq from deleted_identifies as t)
  into _deleted, _seqs
  from deleted_customer;

  -- A separate statement, because the one above may have waited for svc_api.sweep_operations to remove events of the customer, and does
  -- not see what that wrote.
  with retired as (
    delete from svc.retired_keys as r
    where r.environment_id = delete_customer.environment_id and r.customer_id = delete_customer.customer_id
    returning r.event_seq, r.idempotency_key
  ),
  deleted_keys as (
    delete from svc.idempotency_keys as k
    where k.environment_id = delete_customer.environment_id and k.ctid = any(array(
      select p.ctid
      from retired as r
      cross join lateral (
        select i.ctid
        from svc.idempotency_keys as i
        where i.environment_id = delete_customer.environment_id
          and i.idempotency_key = r.idempotency_key
          and i.event_seq = r.event_seq
        limit 1
      ) as p
    ))
    returning 1
  )
  select count(*) into _retired_keys from deleted_keys;
  if _retired_keys > 0 then
    _deleted := jsonb_set(
      _deleted::jsonb, '{idempotencyKeys}', to_jsonb((_deleted ->> 'idempotencyKeys')::integer + _retired_keys)
    );
  end if;

  _held := array(
    select q.seq
    from svc.quarantined_operations as q
    where q.environment_id = delete_customer.environment_id and q.customer_id = delete_customer.customer_id
  );
  select count(*) into _quarantined from svc.take_from_quarantine(delete_customer.environment_id, _held, true);
  _deleted := svc.with_members(_deleted, json_build_object('quarantined', _quarantined));

  -- A transaction that has the row locked is beginning a trial, which names no customers yet, or ending one. If this customer was the
  -- suspect, the failures no longer count.
  update svc.suspect_environments as s
  set customer_ids = array_remove(s.customer_ids, delete_customer.customer_id), failures = 0
  where s.environment_id = (
    select t.environment_id
    from svc.suspect_environments as t
    where t.environment_id = delete_customer.environment_id and delete_customer.customer_id = any(t.customer_ids)
    for update skip locked
  );

  perform svc.forget_violations(delete_customer.environment_id, _seqs);

  update svc.recomputes as r
  set error = replace(r.error, _name, 'who was erased')
  where r.environment_id = delete_customer.environment_id and r.status <> 'completed' and position(_name in r.error) > 0;
  -- No customer lies between the two ids: one added later is created after the instant that the recompute is pinned to.
  update svc.recomputes as r
  set last_customer_id = (
    select max(c.customer_id) from svc.customers as c
    where c.environment_id = delete_customer.environment_id and c.customer_id < delete_customer.customer_id
  )
  where r.environment_id = delete_customer.environment_id and r.status <> 'completed'
    and r.last_customer_id = delete_customer.customer_id;
  return _deleted;
end;
$$;

comment on function svc.delete_customer(integer, text) is
  'Deletes all data of one customer, and answers the number of rows of each kind.';
