-- When the last recompute of all customers of an environment ended, if that was after an instant; otherwise null. It left of each
-- customer's health one record, and of each segment the last membership, so earlier ones are missing in what is counted at the instant.
-- Raises nothing, locks nothing.
create or replace function svc.recomputed_after(environment_id integer, at timestamptz)
returns timestamptz
language sql
stable
set search_path = ''
as $$
  select max(r.finished_at)
  from svc.recomputes as r
  where r.environment_id = recomputed_after.environment_id
    and r.kind = 'recompute'
    and r.customer_id is null
    and r.customers_done > 0
    and r.finished_at > recomputed_after.at
$$;

comment on function svc.recomputed_after(integer, timestamptz) is
  'When the last recompute of all customers ended, if after an instant.';
