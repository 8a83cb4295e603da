-- What is sent of an emission, byte for byte the same at every attempt. Made here, because a number in the metadata may exceed what
-- JavaScript's hold.
-- Raises nothing, locks nothing.
create or replace function svc.delivery_body(emission svc.emissions, environment_name text)
returns json
language sql
-- Rendering JSON is only stable.
stable
parallel safe
return json_build_object(
  'id', svc.emission_id((emission).emission_seq),
  'type', (emission).event_type,
  'timestamp', svc.iso((emission).emitted_at),
  'data', json_build_object(
    'customerId', (emission).customer_id,
    'environment', environment_name,
    'source', (emission).source,
    'metadata', (emission).metadata,
    'configVersion', 'v' || (emission).config_version,
    'cause', json_build_object('type', (emission).cause_type, 'id', (emission).cause_id),
    'sequence', (emission).emission_seq
  )
);

comment on function svc.delivery_body(svc.emissions, text) is 'The body of the deliveries of an emission.';
