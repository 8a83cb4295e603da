-- Performs one step of discarding operations from quarantine: the named ones, or all that pass the filters, in the order of acceptance.
-- They are deleted for good, and so are their idempotency keys, so that they can be sent again, corrected. {discarded, nextCursor}.
-- Raises what iam.authorize and iam.record_audit raise, SV004 PROJECT_NOT_FOUND, SV006 VALIDATION_ERROR (cursor). Locks what
-- svc.lock_retention and svc.take_from_quarantine lock.
create or replace function svc_api.discard_quarantined(
  token_hash bytea, organization_id text, request_id text, project_slug text, environment_name text,
  ids text[], event text, code text, "cursor" text
)
returns json
language plpgsql
volatile
security definer
set search_path = ''
-- Force look-ups by key, whatever the statistics say.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  _environment constant record := svc.authorize_environment(
    token_hash, organization_id, project_slug, environment_name, 'discard_quarantined'
  );
  _id constant integer := _environment.environment_id;
  _after constant bigint := coalesce(svc.decode_cursor('quarantine-step', discard_quarantined.cursor, '^[0-9]{1,18}$')::bigint, 0);
  _step record;
  _discarded bigint;
begin
  perform svc.require_unfrozen(_id);
  perform svc.lock_retention(_id);
  _step := svc.quarantine_step(_id, _after, discard_quarantined.ids, discard_quarantined.event, discard_quarantined.code);
  select count(*) into _discarded from svc.take_from_quarantine(_id, _step.seqs, true);
  if _discarded > 0 then
    perform iam.record_audit(
      _environment.actor, discard_quarantined.request_id, 'quarantine.discarded', discard_quarantined.project_slug,
      discard_quarantined.environment_name, null, jsonb_build_object('operations', _discarded)
    );
  end if;
  return json_build_object('discarded', _discarded, 'nextCursor', svc.encode_cursor('quarantine-step', _step.resume::text));
end;
$$;

comment on function svc_api.discard_quarantined(bytea, text, text, text, text, text[], text, text, text) is
  'Discards operations from quarantine for good, a limited number at once.';
