-- Sets from when on customers are known: from when the first of their operations in the inbox was accepted. Of customers that are not new,
-- whose earlier operations are evaluated already, only to an earlier instant. Answers those that have an operation in the inbox.
-- Raises nothing. The caller has locked the customers.
create or replace function svc.begin_customers(environment_id integer, customer_ids text[], new_ids text[])
returns text[]
language plpgsql
volatile
set search_path = ''
as $$
declare
  _begun text[];
begin
  -- One statement, so that what is accepted after it began is left to the next call.
  with begun as materialized (
    select n.customer_id, b.accepted_at
    from (select distinct u.customer_id from unnest(begin_customers.customer_ids) as u (customer_id)) as n
    cross join lateral (
      select i.seq
      from svc.inbox as i
      where i.environment_id = begin_customers.environment_id and i.customer_id = n.customer_id
      order by i.seq
      limit 1
    ) as i
    cross join lateral (
      select k.accepted_at
      from svc.ingest_batches as k
      where k.environment_id = begin_customers.environment_id and k.batch_seq = i.seq / 1024
      limit 1
    ) as b
  ),
  changed as (
    update svc.customers as c
    set created_at = n.accepted_at
    from begun as n
    where c.environment_id = begin_customers.environment_id and c.customer_id = n.customer_id
      and (c.created_at > n.accepted_at or c.created_at < n.accepted_at and c.customer_id = any(begin_customers.new_ids))
  )
  select array_agg(n.customer_id) into _begun from begun as n;
  return coalesce(_begun, '{}');
end;
$$;

comment on function svc.begin_customers(integer, text[], text[]) is 'Sets from when on customers are known, by their first operations.';
