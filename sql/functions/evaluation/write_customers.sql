-- Writes the results of evaluating customers: [{customerId, createdAt, identifies, lifecycle, lifecycleEnteredAt, lastEventAt,
-- evaluatedThrough, nextDueAt, heldUntil, health}], instants in milliseconds, and the engine's state of each as JSON, in the same order,
-- one per line: inside the rows a state would be parsed three times, and states are most of what is written. identifies are the numbers of
-- the evaluated trait updates, left out if there are none: traits are merged here from the accepted documents, because a number in them
-- may exceed what the engine's doubles hold.
-- Raises an internal error if there are not as many states as customers. Locks nothing more than the rows it writes; the caller has locked
-- the customers.
create or replace function svc.write_customers(environment_id integer, version integer, customers json, states text)
returns void
language plpgsql
volatile
set search_path = ''
-- Force look-ups by key, whatever the statistics say, as in apply_evaluation.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
-- Parameters are always qualified; `on conflict` cannot qualify its columns.
#variable_conflict use_column
declare
  _epoch constant timestamptz := 'epoch';
  _ms constant interval := '1 millisecond';
  -- Not a second function in `rows from`, which Citus does not plan.
  _states constant json[] := coalesce(string_to_array(write_customers.states, E'\n')::json[], '{}');
  _written integer;
begin
  -- The rows exist; the insert serves to find them by the unique index. Citus does not accept an update that computes instants from its
  -- rows.
  insert into svc.customers as c (
    environment_id, customer_id, created_at, traits, lifecycle, lifecycle_entered_at, last_event_at, evaluated_through, held_until,
    config_version, health, state, next_due_at
  )
  select
    h.environment_id,
    r."customerId",
    _epoch + r."createdAt" * _ms,
    coalesce(i.traits, '{}'),
    r.lifecycle,
    _epoch + r."lifecycleEnteredAt" * _ms,
    _epoch + r."lastEventAt" * _ms,
    _epoch + r."evaluatedThrough" * _ms,
    _epoch + r."heldUntil" * _ms,
    write_customers.version,
    r.health,
    _states[r.ordinality],
    -- The engine only knows the future events that it was given; the others are still in the inbox, beside what waits for a release.
    least(
      _epoch + r."nextDueAt" * _ms,
      (
        select nullif(min(p.not_before), 'infinity')
        from svc.inbox as p
        where p.environment_id = write_customers.environment_id and p.customer_id = r."customerId" and p.not_before is not null
      )
    )
  from svc.homes as h
  cross join rows from (json_to_recordset(write_customers.customers) as (
    "customerId" text, "createdAt" bigint, identifies bigint[], lifecycle text, "lifecycleEnteredAt" bigint, "lastEventAt" bigint,
    "evaluatedThrough" bigint, "nextDueAt" bigint, "heldUntil" bigint, health json
  )) with ordinality as r
  left join lateral (
    select svc.merge_traits(t.traits order by o.seq) as traits
    from unnest(r.identifies) as o (seq)
    cross join lateral (
      select u.traits
      from svc.trait_updates as u
      where u.environment_id = write_customers.environment_id and u.operation_seq = o.seq
      limit 1
    ) as t
  ) as i on r.identifies is not null
  where h.environment_id = write_customers.environment_id
  on conflict (environment_id, customer_id) do update
  set
    traits = case when excluded.traits = '{}' then c.traits else svc.without_nulls(c.traits || excluded.traits) end,
    lifecycle = excluded.lifecycle,
    lifecycle_entered_at = excluded.lifecycle_entered_at,
    last_event_at = excluded.last_event_at,
    evaluated_through = excluded.evaluated_through,
    held_until = excluded.held_until,
    config_version = excluded.config_version,
    health = excluded.health,
    state = excluded.state,
    next_due_at = excluded.next_due_at;
  get diagnostics _written = row_count;
  -- No customer may get the state of another.
  if _written <> cardinality(_states) then
    raise exception using
      errcode = 'internal_error', message = format('there are %s states of %s customers', cardinality(_states), _written);
  end if;
end;
$$;

comment on function svc.write_customers(integer, integer, json, text) is 'Writes the results of evaluating customers.';
