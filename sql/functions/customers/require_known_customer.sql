-- Checks that any data of a customer exists: a state, or operations that wait for evaluation or are in quarantine.
-- Raises SV004 CUSTOMER_NOT_FOUND. Locks nothing.
create or replace function svc.require_known_customer(environment_id integer, customer_id text)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  perform from svc.inbox as i
  where i.environment_id = require_known_customer.environment_id and i.customer_id = require_known_customer.customer_id
  limit 1;
  if not found then
    perform from svc.quarantined_operations as q
    where q.environment_id = require_known_customer.environment_id and q.customer_id = require_known_customer.customer_id
    limit 1;
  end if;
  if not found then
    perform svc.require_customer(require_known_customer.environment_id, require_known_customer.customer_id);
  end if;
end;
$$;

comment on function svc.require_known_customer(integer, text) is
  'Raises CUSTOMER_NOT_FOUND unless the customer exists or has operations that wait or are in quarantine.';
