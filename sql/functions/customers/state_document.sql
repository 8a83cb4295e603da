-- The state document of a customer: everything derived, in the fixed order of members that every surface shows. json, not jsonb, keeps
-- that order. Null for a customer that does not exist.
-- Raises nothing, locks nothing.
create or replace function svc.state_document(environment_id integer, customer_id text)
returns json
language sql
stable
strict
-- The view svc_inspect.customer_states calls it for readers that may not read the tables.
security definer
set search_path = ''
begin atomic
  select json_build_object(
    'customerId', c.customer_id,
    'environment', e.name,
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
    'segments', svc.segments_of(c.environment_id, c.customer_id),
    'health', c.health,
    'journeys', svc.journeys_of(c.environment_id, c.customer_id),
    'signals', svc.signals_of(c.environment_id, c.customer_id),
    'nextDueAt', svc.iso(c.next_due_at)
  )
  from svc.customers as c
  join svc.environments as e on e.environment_id = c.environment_id
  where c.environment_id = state_document.environment_id and c.customer_id = state_document.customer_id;
end;

comment on function svc.state_document(integer, text) is 'The state document of a customer.';
