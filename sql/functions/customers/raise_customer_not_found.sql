-- Reports that a customer does not exist.
-- Always raises SV004 CUSTOMER_NOT_FOUND. Locks nothing.
create or replace function svc.raise_customer_not_found(customer_id text)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  perform svc.raise_not_found(
    'CUSTOMER_NOT_FOUND', 'customer', raise_customer_not_found.customer_id, 'in this environment',
    'Check the id, which is case-sensitive, and the environment; GET /projects/:project/customers lists all of them.',
    jsonb_build_object('reason', 'A customer exists once its first operation has been evaluated.')
  );
end;
$$;

comment on function svc.raise_customer_not_found(text) is 'Raises CUSTOMER_NOT_FOUND.';
