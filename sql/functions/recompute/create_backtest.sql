-- Queues a backtest: what a model showed of the customers at past instants, and what followed. The model is a version, or a snapshot
-- that the caller validated and whose hash it computed from exactly this text. The caller parsed the question with svc_api.begin_backtest,
-- whose instant is pinned_at. sample is about how many customers to evaluate, null for all.
-- Raises what iam.authorize and iam.record_audit raise, SV004 PROJECT_NOT_FOUND and VERSION_NOT_FOUND, SV009 QUOTA_EXCEEDED. Locks the
-- environment's row, like svc.require_room.
create or replace function svc_api.create_backtest(
  token_hash bytea, organization_id text, request_id text, project_slug text, environment_name text,
  version_name text, snapshot text, hash text, question json, sample integer, pinned_at timestamptz
)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _environment constant record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'create_backtest');
  _against constant text := create_backtest.question ->> 'against';
  _version integer;
  _hash text := create_backtest.hash;
  _backtest svc.recomputes;
begin
  if create_backtest.version_name is not null then
    _version := svc.find_version(_environment.project_id, create_backtest.version_name);
    select v.hash into _hash from svc.config_versions as v where v.project_id = _environment.project_id and v.version = _version;
  end if;
  if _against is not null then
    perform svc.find_version(_environment.project_id, _against);
  end if;

  perform svc.require_room(create_backtest.organization_id, _environment.environment_id, 'previews');
  insert into svc.recomputes (
    environment_id, recompute_id, kind, sample_size, version, snapshot, hash, question, pinned_at, requested_by
  )
  values (
    _environment.environment_id, svc.random_id('bkt_'), 'backtest', create_backtest.sample, _version, create_backtest.snapshot::json,
    _hash, create_backtest.question, create_backtest.pinned_at, (_environment.actor).email
  )
  returning * into _backtest;
  perform svc.request_recompute(_environment.environment_id);

  perform iam.record_audit(
    _environment.actor, create_backtest.request_id, 'backtest.queued', create_backtest.project_slug, create_backtest.environment_name,
    _backtest.recompute_id,
    jsonb_build_object(
      'outcome', _backtest.question ->> 'outcome', 'version', 'v' || _backtest.version, 'hash', _backtest.hash, 'against', _against,
      'sample', _backtest.sample_size
    )
  );
  return svc.backtest_document(_backtest, create_backtest.environment_name);
end;
$$;

comment on function svc_api.create_backtest(bytea, text, text, text, text, text, text, text, json, integer, timestamptz) is
  'Queues a backtest of what a model predicted.';
