-- Checks that a customer exists. It does from its first evaluation on, a moment after its first operation was accepted.
-- Raises SV004 CUSTOMER_NOT_FOUND. Locks nothing.
create or replace function svc.require_customer(environment_id integer, customer_id text)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  perform from svc.customers as c
  where c.environment_id = require_customer.environment_id and c.customer_id = require_customer.customer_id;
  if not found then
    perform svc.raise_customer_not_found(require_customer.customer_id);
  end if;
end;
$$;

comment on function svc.require_customer(integer, text) is 'Raises CUSTOMER_NOT_FOUND unless the customer exists.';
