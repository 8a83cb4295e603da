-- Whether a customer belongs to a sample of the given share (0 to 1; null for all): the same customers at each call.
-- Raises nothing, locks nothing.
create or replace function svc.is_sampled(customer_id text, share float8)
returns boolean
language sql
immutable
parallel safe
set search_path = ''
return coalesce((hashtextextended(is_sampled.customer_id, 0) & 9223372036854775807) < is_sampled.share * 9223372036854775807, true);

comment on function svc.is_sampled(text, float8) is 'Whether a customer belongs to a sample of the given share.';
