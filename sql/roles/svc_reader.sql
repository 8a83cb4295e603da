-- What users with psql may do: read the views.
revoke execute on all routines in schema svc_inspect from public;

-- Granted by a former release.
revoke execute on function svc.state_document(integer, text) from svc_reader;

grant usage on schema svc_inspect to svc_reader;
grant select on all tables in schema svc_inspect to svc_reader;
-- Functions that the views call. Readers have no usage on the schema svc, so they cannot call those in it directly.
grant execute on function
  svc.emission_id(bigint), svc.event_id(bigint), svc.is_alive(timestamptz), svc.iso(timestamptz),
  svc.journey_item(text, text, text, json, timestamptz, timestamptz, timestamptz), svc.month_of(timestamptz), svc.quarantined_id(bigint),
  svc.queued_jobs(), svc.signal_item(text, text, text, timestamptz), svc_inspect.emission_seq(text), svc_inspect.event_seq(text),
  svc_inspect.invariants()
to svc_reader;
