-- What people with psql may do: read the views.
revoke execute on all routines in schema svc_inspect from public;

grant usage on schema svc_inspect to svc_reader;
grant select on all tables in schema svc_inspect to svc_reader;
-- What the views compute with; without usage on its schema, a reader cannot call it otherwise.
grant execute on function
  svc.emission_id(bigint), svc.event_id(bigint), svc.month_of(timestamptz), svc.quarantined_id(bigint), svc.queued_jobs(),
  svc.state_document(integer, text), svc_inspect.event_seq(text), svc_inspect.invariants()
to svc_reader;
