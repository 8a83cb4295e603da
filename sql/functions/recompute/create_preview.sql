-- Queues a preview: the results of another model for the customers, compared with those of the active version. The caller validated the
-- snapshot and computed the hash of exactly this text. sample is about how many customers to evaluate, null for all.
-- Raises what iam.authorize and iam.record_audit raise, SV004 PROJECT_NOT_FOUND, SV009 QUOTA_EXCEEDED. Locks the environment's row, like
-- svc.require_room.
create or replace function svc_api.create_preview(
  token_hash bytea, organization_id text, request_id text, project_slug text, environment_name text,
  snapshot text, hash text, sample integer
)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _environment constant record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'create_preview');
  _preview svc.recomputes;
begin
  perform svc.require_room(create_preview.organization_id, _environment.environment_id, 'previews');
  insert into svc.recomputes (environment_id, recompute_id, kind, sample_size, version, snapshot, hash, pinned_at, requested_by)
  values (
    _environment.environment_id, svc.random_id('prv_'), 'preview', create_preview.sample, _environment.active_version,
    create_preview.snapshot::json, create_preview.hash, date_trunc('milliseconds', now()), (_environment.actor).email
  )
  returning * into _preview;
  perform svc.request_recompute(_environment.environment_id);

  perform iam.record_audit(
    _environment.actor, create_preview.request_id, 'preview.queued', create_preview.project_slug, create_preview.environment_name,
    _preview.recompute_id,
    jsonb_build_object('hash', _preview.hash, 'sample', _preview.sample_size, 'version', 'v' || _preview.version)
  );
  return svc.recompute_document(_preview, create_preview.environment_name);
end;
$$;

comment on function svc_api.create_preview(bytea, text, text, text, text, text, text, integer) is
  'Queues a preview of another model''s results for the customers.';
