-- A customer as lists show it. Null for a customer that does not exist.
-- Raises nothing, locks nothing.
create or replace function svc.customer_item(environment_id integer, customer_id text)
returns json
language sql
stable
strict
set search_path = ''
begin atomic
  select json_build_object(
    'customerId', c.customer_id,
    'lifecycle', c.lifecycle,
    'lifecycleEnteredAt', svc.iso(c.lifecycle_entered_at),
    'segments', svc.segments_of(c.environment_id, c.customer_id),
    'health', c.health,
    'healthWeekAgo', (
      select trim_scale(h.overall)
      from svc.health_scores as h
      where h.environment_id = c.environment_id
        and h.customer_id = c.customer_id
        and h.generation = c.generation
        and h.scored_at <= now() - interval '7 days'
      order by h.score_seq desc
      limit 1
    ),
    'signals', svc.signals_of(c.environment_id, c.customer_id),
    'journeys', svc.journeys_of(c.environment_id, c.customer_id),
    'lastEventAt', svc.iso(c.last_event_at),
    'createdAt', svc.iso(c.created_at),
    'setAside', case
      when c.set_aside_at is not null then json_build_object('at', svc.iso(c.set_aside_at), 'error', c.set_aside_error)
    end
  )
  from svc.customers as c
  where c.environment_id = customer_item.environment_id and c.customer_id = customer_item.customer_id;
end;

comment on function svc.customer_item(integer, text) is 'A customer as lists show it.';
