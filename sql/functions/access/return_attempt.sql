-- Returns an attempt that iam.take_attempt took from a bucket with the same refill, because it was not a guess. Call it in the
-- transaction that took it.
-- Raises nothing. Locks the bucket's row, which the transaction has locked already.
create or replace function iam.return_attempt(bucket text, refill interval)
returns void
language sql
volatile
set search_path = ''
as $$
  update iam.throttles as t
  set full_at = t.full_at - return_attempt.refill
  where t.bucket = iam.bucket_hash(return_attempt.bucket);
$$;

comment on function iam.return_attempt(text, interval) is 'Returns an attempt to its bucket.';
