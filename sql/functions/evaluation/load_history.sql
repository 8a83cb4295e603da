-- The evaluated events of some customers, in order of customer, occurrence and acceptance, to rebuild the memory of conditions after
-- another version became active. Only events with the given names.
-- Raises nothing, locks nothing.
create or replace function svc_api.load_history(environment_id integer, customer_ids text[], events text[])
returns table (customer_id text, event_seq bigint, event text, properties jsonb, occurred_at timestamptz)
language sql
stable
security definer
set search_path = ''
as $$
  select e.customer_id, e.event_seq, e.event, e.properties, e.occurred_at
  from svc.events as e
  where e.environment_id = load_history.environment_id
    and e.customer_id = any(load_history.customer_ids)
    and e.event = any(load_history.events)
    and not exists (
      select 1
      from svc.inbox as i
      where i.environment_id = load_history.environment_id and i.customer_id = e.customer_id and i.seq = e.event_seq
    )
  order by e.customer_id, e.occurred_at, e.event_seq;
$$;

comment on function svc_api.load_history(integer, text[], text[]) is
  'The evaluated events of some customers, in order of customer, occurrence and acceptance.';
