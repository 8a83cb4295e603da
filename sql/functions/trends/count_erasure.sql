-- Removes a customer who is being erased from the trends of lifecycle, health, segments and signals. Counts of active customers, and of
-- what was accepted and delivered, stay: they identify no customer.
-- Raises nothing, locks nothing; the caller has locked the customer and deleted nothing yet.
create or replace function svc.count_erasure(environment_id integer, customer_id text)
returns void
language plpgsql
volatile
set search_path = ''
-- Force look-ups by key, whatever the statistics say, as in delete_customer.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  -- On a cluster, writes on another node do not assign this transaction an id here, by which svc_api.count_trends waits for it.
  _xact constant xid8 := pg_current_xact_id();
  _zone constant text := svc.time_zone_of_environment(count_erasure.environment_id);
begin
  insert into svc.trend_changes (environment_id, measure, day, name, value, count, amount)
  select
    c.environment_id, l.measure, (l.changed_at at time zone _zone)::date as day, l.name, l.value, -sum(l.count), -sum(l.amount)
  from svc.customers as c
  join svc.logged_changes as l
    on l.environment_id = count_erasure.environment_id and l.customer_id = c.customer_id
    and coalesce(l.generation, c.generation) = c.generation
  where c.environment_id = count_erasure.environment_id and c.customer_id = count_erasure.customer_id
  group by c.environment_id, l.measure, day, l.name, l.value
  having sum(l.count) <> 0 or sum(l.amount) <> 0;
end;
$$;

comment on function svc.count_erasure(integer, text) is 'Removes a customer who is being erased from the trends.';
