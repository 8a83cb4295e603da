-- The calls of the tracking API that the next step of a release will take, for the caller to map them again: {model, calls: [{id, at (ms),
-- call}]}. model is that of svc.tracking_model; null without calls. The other parameters are those of svc_api.release_quarantined.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND, SV006 VALIDATION_ERROR (cursor). Locks nothing.
create or replace function svc_api.list_quarantined_calls(
  token_hash bytea, organization_id text, project_slug text, environment_name text, ids text[], event text, code text, "cursor" text
)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _environment constant record := svc.authorize_environment(
    token_hash, organization_id, project_slug, environment_name, 'release_quarantined'
  );
  _after constant bigint := coalesce(svc.decode_cursor('quarantine-step', list_quarantined_calls.cursor, '^[0-9]{1,18}$')::bigint, 0);
  _step constant record := svc.quarantine_step(
    _environment.environment_id, _after, list_quarantined_calls.ids, list_quarantined_calls.event, list_quarantined_calls.code
  );
  _calls json;
begin
  select json_agg(
    json_build_object(
      'id', svc.quarantined_id(q.seq), 'at', svc.epoch_ms(q.quarantined_at), 'call', q.call
    )
    order by q.seq
  ) into _calls
  from svc.quarantined_operations as q
  where q.environment_id = _environment.environment_id and q.seq = any(_step.seqs) and q.call is not null;
  return json_build_object(
    'model', case when _calls is not null then svc.tracking_model(_environment.project_id, _environment.active_version) end,
    'calls', coalesce(_calls, '[]')
  );
end;
$$;

comment on function svc_api.list_quarantined_calls(bytea, text, text, text, text[], text, text, text) is
  'The calls of the tracking API that the next step of a release will take.';
