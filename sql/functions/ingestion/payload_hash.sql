-- The hash of what an idempotency key identifies: customer, event, properties and the explicit timestamp as an instant. Equal jsonb has
-- equal hashes whatever the order of keys and the spelling of numbers (1.0 and 1). jsonb_hash_extended alone is not enough: it ignores the
-- sign of a number and where an object or a list ends, and the magnitudes of two numbers can cancel out. So the text is hashed as well.
-- Raises nothing, locks nothing.
create or replace function svc.payload_hash(customer_id text, event text, properties jsonb, explicit_at timestamptz)
returns bigint
language sql
immutable
parallel safe
return jsonb_hash_extended(
  properties,
  hashtextextended(
    event collate "C",
    hashtextextended(
      customer_id collate "C",
      hashtextextended(
        svc.canonical_text(properties) collate "C",
        -- The seed of an absent timestamp differs from that of any present one, except with a probability of 2^-64.
        case when explicit_at is null then 0 else timestamp_hash_extended(explicit_at at time zone 'UTC', 1) end
      )
    )
  )
);

comment on function svc.payload_hash(text, text, jsonb, timestamptz) is 'Hash of the canonical payload that an idempotency key identifies.';
