-- Queues a recompute of one customer or of all, pinned to the active version and to this instant; a customer_id that does not exist matches
-- no customer. dry_run only shows what it would change. from_id names a dry run, whose scope and pins are reused. The caller made sure
-- that either from_id or a scope is given.
-- Raises what iam.authorize and iam.record_audit raise, SV004 PROJECT_NOT_FOUND and RECOMPUTE_NOT_FOUND, SV005 RECOMPUTE_NOT_A_DRY_RUN,
-- SV009 QUOTA_EXCEEDED. Locks the environment's row, like svc.require_room.
create or replace function svc_api.create_recompute(
  token_hash bytea, organization_id text, request_id text, project_slug text, environment_name text,
  customer_id text, dry_run boolean, from_id text
)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _environment constant record := svc.authorize_environment(
    token_hash, organization_id, project_slug, environment_name, 'create_recompute'
  );
  _kind constant text := case when create_recompute.dry_run then 'dry_run' else 'recompute' end;
  _from svc.recomputes;
  _recompute svc.recomputes;
begin
  if create_recompute.from_id is null then
    _from.customer_id := create_recompute.customer_id;
    _from.version := _environment.active_version;
    _from.pinned_at := date_trunc('milliseconds', now());
  else
    _from := svc.find_job(_environment.environment_id, create_recompute.from_id, 'recompute');
    if _from.kind <> 'dry_run' then
      raise exception using
        errcode = 'SV005',
        message = 'RECOMPUTE_NOT_A_DRY_RUN',
        detail = jsonb_build_object(
          'message', format('The recompute "%s" is not a dry run.', _from.recompute_id),
          'field', 'from',
          'reason', 'Only the version and instant of a dry run can be reused; a recompute has already applied its own.',
          'fix', 'Name a dry run, or queue a new recompute of one customer or of all.'
        )::text;
    end if;
  end if;

  perform svc.require_room(create_recompute.organization_id, _environment.environment_id, 'recomputes');
  insert into svc.recomputes (environment_id, recompute_id, kind, customer_id, version, pinned_at, requested_by)
  values (
    _environment.environment_id, svc.random_id('rec_'), _kind, _from.customer_id, _from.version, _from.pinned_at, (_environment.actor).email
  )
  returning * into _recompute;
  perform svc.request_recompute(_environment.environment_id);

  perform iam.record_audit(
    _environment.actor, create_recompute.request_id, 'recompute.queued', create_recompute.project_slug, create_recompute.environment_name,
    _recompute.recompute_id,
    jsonb_build_object(
      'kind', _kind,
      'scope', case when _recompute.customer_id is null then 'all' else 'customer' end,
      'version', 'v' || _recompute.version
    )
  );
  return svc.recompute_document(_recompute, create_recompute.environment_name);
end;
$$;

comment on function svc_api.create_recompute(bytea, text, text, text, text, text, boolean, text) is
  'Queues a recompute or a dry run of one customer or of all.';
