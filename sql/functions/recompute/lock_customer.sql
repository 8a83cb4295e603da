-- Locks a customer until the transaction ends, so that what later statements read of it is still true when it is written; answers whether
-- the customer exists. Evaluation skips the customer meanwhile.
-- Raises nothing. Waits for a transaction that holds the customer's row.
create or replace function svc_api.lock_customer(environment_id integer, customer_id text)
returns boolean
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  perform from svc.customers as c
  where c.environment_id = lock_customer.environment_id and c.customer_id = lock_customer.customer_id
  for update;
  return found;
end;
$$;

comment on function svc_api.lock_customer(integer, text) is 'Locks a customer until the transaction ends.';
