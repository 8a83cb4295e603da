-- What iam.throttles knows a bucket by: network and e-mail addresses are in its text, and must not be readable there. Stable, as
-- convert_to is, so that it is inlined.
-- Raises nothing, locks nothing.
create or replace function iam.bucket_hash(bucket text)
returns bytea
language sql
stable
strict
parallel safe
return sha256(convert_to(bucket, 'UTF8'));

comment on function iam.bucket_hash(text) is 'The hash that a bucket of attempts is kept under.';
