-- Whether an environment has customers. Reads one entry of an index.
-- Raises nothing, locks nothing.
create or replace function svc.has_customers(environment_id integer)
returns boolean
language sql
stable
set search_path = ''
-- Force an index scan, whatever the statistics say: for an environment without customers, all rows of the others would be read.
set enable_seqscan = off
as $$
  select exists (select from svc.customers as c where c.environment_id = has_customers.environment_id);
$$;

comment on function svc.has_customers(integer) is 'Whether an environment has customers.';
