-- Gives up on a customer whose evaluation keeps failing: its operations stay pending, without delaying other customers, until it is
-- released.
-- Raises nothing. Locks the customer's row and its inbox rows.
create or replace function svc_api.set_aside_customer(environment_id integer, customer_id text, error text)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  -- If its very first evaluation failed, the insert was rolled back with it.
  perform svc.insert_new_customers(set_aside_customer.environment_id, array[set_aside_customer.customer_id]);

  update svc.customers as c
  set set_aside_at = now(), set_aside_error = left(set_aside_customer.error, 2000)
  where c.environment_id = set_aside_customer.environment_id and c.customer_id = set_aside_customer.customer_id;

  update svc.inbox as i
  set not_before = 'infinity'
  where i.environment_id = set_aside_customer.environment_id and i.customer_id = set_aside_customer.customer_id;
end;
$$;

comment on function svc_api.set_aside_customer(integer, text, text) is 'Sets aside a customer whose evaluation keeps failing.';
