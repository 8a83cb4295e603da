-- Whether a webhook's lease is over, or there is none; until is where a lease from this instant on would end. One that ends a whole lease
-- later than that was written before the clock was set back. Immutable, so that a cluster accepts it in an update.
-- Raises nothing, locks nothing.
create or replace function svc.is_lease_over(leased_until timestamptz, at timestamptz, until timestamptz)
returns boolean
language sql
immutable
parallel safe
return is_lease_over.leased_until is null
  or is_lease_over.leased_until <= is_lease_over.at
  or is_lease_over.leased_until - is_lease_over.until > is_lease_over.until - is_lease_over.at;

comment on function svc.is_lease_over(timestamptz, timestamptz, timestamptz) is 'Whether a webhook''s lease is over, or there is none.';
