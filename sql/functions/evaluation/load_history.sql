-- A page of the evaluated events of some customers, in order of customer, occurrence and acceptance, to rebuild condition memory from
-- when another version became active. An event is [customer, seq, event, properties, occurred (ms)]; events not named are left out.
-- after_* name the last event of the page before. Raises nothing, locks nothing.
create or replace function svc_api.load_history(
  environment_id integer,
  customer_ids text[],
  events text[],
  after_customer_id text,
  after_occurred_at timestamptz,
  after_seq bigint,
  page_size integer
)
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
    and (
      load_history.after_customer_id is null
      or (e.customer_id, e.occurred_at, e.event_seq)
      > (load_history.after_customer_id, load_history.after_occurred_at, load_history.after_seq)
    )
    and not exists (
      select 1
      from svc.inbox as i
      where i.environment_id = e.environment_id and i.customer_id = e.customer_id and i.seq = e.event_seq
    )
  order by e.customer_id, e.occurred_at, e.event_seq
  limit load_history.page_size;
$$;

comment on function svc_api.load_history(integer, text[], text[], text, timestamptz, bigint, integer) is
  'A page of the evaluated events of some customers, in order of customer, occurrence and acceptance.';
