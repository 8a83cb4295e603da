-- The state document of a customer: everything derived, with the members in the order that every surface shows; json, not jsonb, keeps
-- it. Null if the customer does not exist. svc_inspect.customer_states has the same for all customers.
-- Raises nothing, locks nothing.
create or replace function svc.state_document(environment_id integer, customer_id text)
returns json
language sql
stable
strict
set search_path = ''
as $$
  select json_build_object(
    'customerId', c.customer_id,
    'environment', c.environment,
    'createdAt', svc.iso(c.created_at),
    'lastEventAt', svc.iso(c.last_event_at),
    'evaluatedThrough', svc.iso(c.evaluated_through),
    'configVersion', 'v' || c.config_version,
    'traits', (
      select coalesce(json_object_agg(t.key, t.value order by t.key collate "C"), '{}')
      from jsonb_each(c.traits) as t
    ),
    'lifecycle', c.lifecycle,
    'lifecycleEnteredAt', svc.iso(c.lifecycle_entered_at),
    'segments', c.segments,
    'health', c.health,
    'journeys', c.journeys,
    'signals', c.signals,
    'nextDueAt', svc.iso(c.next_due_at)
  )
  from svc.customer_states(state_document.environment_id, array[state_document.customer_id]) as c;
$$;

comment on function svc.state_document(integer, text) is 'The state document of a customer.';
