-- When the last recompute of all customers of an environment ended, or now while one is under way, if that is after an instant; otherwise
-- null. It leaves of each customer's health one record, and of each segment the last membership, so earlier ones are missing in what is
-- counted at the instant: those of the customers that it has done, even if it has not ended or waits to be resumed.
-- Raises nothing, locks nothing.
create or replace function svc.recomputed_after(environment_id integer, at timestamptz)
returns timestamptz
language sql
stable
set search_path = ''
as $$
  select max(coalesce(r.finished_at, now()))
  from svc.recomputes as r
  where r.environment_id = recomputed_after.environment_id
    and r.kind = 'recompute'
    and r.customer_id is null
    and r.customers_done > 0
    -- Not infinity: nothing is missing in figures of a period that has not ended.
    and coalesce(r.finished_at, now()) > recomputed_after.at
$$;

comment on function svc.recomputed_after(integer, timestamptz) is
  'When the last recompute of all customers ended, or now while one is under way, if after an instant.';
