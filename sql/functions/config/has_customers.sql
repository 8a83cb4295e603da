-- Whether an environment has customers. It reads one entry of an index.
-- Raises nothing, locks nothing.
create or replace function svc.has_customers(environment_id integer)
returns boolean
language sql
stable
set search_path = ''
-- By index, whatever the statistics say: an environment without customers would be looked for among those of all others.
set enable_seqscan = off
as $$
  select exists (select from svc.customers as c where c.environment_id = has_customers.environment_id);
$$;

comment on function svc.has_customers(integer) is 'Whether an environment has customers.';
