-- The key of a bucket in iam.throttles: hashed, because the bucket's text contains network and e-mail addresses, which must not be
-- readable there. Stable, like convert_to, so that it is inlined.
-- Raises nothing, locks nothing.
create or replace function iam.bucket_hash(bucket text)
returns bytea
language sql
stable
strict
parallel safe
return sha256(convert_to(bucket, 'UTF8'));

comment on function iam.bucket_hash(text) is 'The hash under which a bucket of attempts is stored.';
