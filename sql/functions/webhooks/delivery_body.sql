-- The body sent for an emission, byte for byte the same at every attempt. Made here, because a number in the metadata may exceed what
-- a JavaScript number can hold.
-- Raises nothing, locks nothing.
create or replace function svc.delivery_body(
  environment_name text, emission_seq bigint, customer_id text, event_type text, source text, metadata jsonb, emitted_at timestamptz,
  cause_type text, cause_id text, config_version integer
)
returns json
language sql
-- Rendering JSON is only stable.
stable
parallel safe
return json_build_object(
  'id', svc.emission_id(delivery_body.emission_seq),
  'type', delivery_body.event_type,
  'timestamp', svc.iso(delivery_body.emitted_at),
  'data', json_build_object(
    'customerId', delivery_body.customer_id,
    'environment', delivery_body.environment_name,
    'source', delivery_body.source,
    'metadata', delivery_body.metadata,
    'configVersion', 'v' || delivery_body.config_version,
    'cause', json_build_object('type', delivery_body.cause_type, 'id', delivery_body.cause_id),
    'sequence', delivery_body.emission_seq
  )
);

comment on function svc.delivery_body(text, bigint, text, text, text, jsonb, timestamptz, text, text, integer) is
  'The body of the deliveries of an emission.';
