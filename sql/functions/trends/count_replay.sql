-- Counts for the trends how a recompute changed a customer's log: adds what generation `after` has, and subtracts what `before` had.
-- Usually they are equal and nothing is written. In plpgsql, which caches the plan: a recompute takes a sixth longer if this is planned
-- for each customer.
-- Raises nothing, locks nothing; the caller has locked the customer.
create or replace function svc.count_replay(environment_id integer, customer_id text, before integer, after integer)
returns void
language plpgsql
volatile
set search_path = ''
-- Force look-ups by key, whatever the statistics say, as in apply_recompute.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  -- On a cluster, writes on another node do not assign this transaction an id here, by which svc_api.count_trends waits for it.
  _xact constant xid8 := pg_current_xact_id();
  _zone constant text := svc.time_zone_of_environment(count_replay.environment_id);
begin
  insert into svc.trend_changes (environment_id, measure, day, name, value, count, amount)
  select r.environment_id, r.measure, r.day, r.name, r.value, sum(r.count), sum(r.amount)
  from (
    select
      l.environment_id, l.measure, (l.changed_at at time zone _zone)::date as day, l.name, l.value,
      case when l.generation = count_replay.after then l.count else -l.count end as count,
      case when l.generation = count_replay.after then l.amount else -l.amount end as amount
    from svc.logged_changes as l
    where l.environment_id = count_replay.environment_id
      and l.customer_id = count_replay.customer_id
      and l.generation in (count_replay.before, count_replay.after)
  ) as r
  group by r.environment_id, r.measure, r.day, r.name, r.value
  having sum(r.count) <> 0 or sum(r.amount) <> 0;
end;
$$;

comment on function svc.count_replay(integer, text, integer, integer) is 'Counts for the trends how a recompute changed a customer''s log.';
