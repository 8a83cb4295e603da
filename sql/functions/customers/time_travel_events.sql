-- The next page of a customer's events for its replay up to an instant, from svc.replayed_page: {events, more, lastAt (to the microsecond,
-- as text), lastSeq}. At most 2,000 events.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND. Locks nothing.
create or replace function svc_api.time_travel_events(
  token_hash bytea, organization_id text, project_slug text, environment_name text, customer_id text, after_at text, after_seq bigint,
  property_events text[]
)
returns json
language plpgsql
stable
security definer
set search_path = ''
-- Force look-ups by key, whatever the statistics say, as in begin_chunk.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  _environment constant record := svc.authorize_environment(
    token_hash, organization_id, project_slug, environment_name, 'explain_customer'
  );
begin
  return svc_api.read_recompute_events(
    _environment.environment_id, time_travel_events.customer_id, time_travel_events.after_at, time_travel_events.after_seq,
    time_travel_events.property_events, 2000, 512 * 1024
  );
end;
$$;

comment on function svc_api.time_travel_events(bytea, text, text, text, text, text, bigint, text[]) is
  'The next events of a customer for its replay up to an instant.';
