-- Says that there is no such customer.
-- Raises SV004 CUSTOMER_NOT_FOUND, always. Locks nothing.
create or replace function svc.raise_customer_not_found(customer_id text)
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  raise exception using
    errcode = 'SV004',
    message = 'CUSTOMER_NOT_FOUND',
    detail = jsonb_build_object(
      'message', format('There is no customer "%s" in this environment.', left(raise_customer_not_found.customer_id, 256)),
      'reason', 'A customer exists from the evaluation of its first operation on.',
      'fix', 'Check the id, which is case-sensitive, and the environment; GET /projects/:project/customers lists all of them.'
    )::text;
end;
$$;

comment on function svc.raise_customer_not_found(text) is 'Raises CUSTOMER_NOT_FOUND.';
