-- Inserts customers, and answers the ids of those that did not exist meanwhile. created_at is when the first of a customer's operations was
-- accepted; all are still in the inbox. A customer being erased meanwhile is left out, or begins with the operations accepted since.
-- Raises nothing. Inserts in id order, and waits for transactions that insert the same customers, or erase them.
create or replace function svc.insert_new_customers(environment_id integer, customer_ids text[])
returns setof text
language plpgsql
volatile
set search_path = ''
as $$
declare
  _inserted text[];
  _begun text[];
  _erased text[] := '{}';
begin
  with inserted as (
    insert into svc.customers (environment_id, customer_id, created_at)
    select h.environment_id, n.customer_id, b.accepted_at
    from svc.homes as h
    cross join unnest(insert_new_customers.customer_ids) as n (customer_id)
    cross join lateral (
      select i.seq
      from svc.inbox as i
      where i.environment_id = insert_new_customers.environment_id and i.customer_id = n.customer_id
      order by i.seq
      limit 1
    ) as i
    cross join lateral (
      select k.accepted_at
      from svc.ingest_batches as k
      where k.environment_id = insert_new_customers.environment_id and k.batch_seq = i.seq / 1024
      limit 1
    ) as b
    where h.environment_id = insert_new_customers.environment_id
    order by n.customer_id collate "C"
    on conflict do nothing
    returning customer_id
  )
  select array_agg(i.customer_id) into _inserted from inserted as i;
  if _inserted is null then
    return;
  end if;

  -- A separate statement, because the insert may have waited for an erasure, whose deletions it does not see. Operations accepted since
  -- begin a new customer.
  _begun := svc.begin_customers(insert_new_customers.environment_id, _inserted, _inserted);
  if cardinality(_begun) < cardinality(_inserted) then
    _erased := array(select unnest(_inserted) except select unnest(_begun));
    delete from svc.customers as c
    where c.environment_id = insert_new_customers.environment_id and c.customer_id = any(_erased);
  end if;

  return query select n.customer_id from unnest(_inserted) as n (customer_id) where n.customer_id <> all(_erased);
end;
$$;

comment on function svc.insert_new_customers(integer, text[]) is 'Inserts customers that are new, in id order.';
