-- The data needed to parse the question of a backtest: {at (ms), end (ms), configVersion, snapshot}. at is the present. end is the last
-- event until then, up to which it is known what happened: if no events came since an import, nothing is known of the time since.
-- version_name is v1, v2 …, null for the active one; for a backtest of a snapshot (is_deployed is false), only at and end are not null.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND, VERSION_NOT_FOUND also if none is active. Locks nothing.
create or replace function svc_api.begin_backtest(
  token_hash bytea, organization_id text, project_slug text, environment_name text, is_deployed boolean, version_name text
)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _environment constant record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'create_backtest');
  _version integer;
  _now constant timestamptz := now();
  _end timestamptz;
begin
  if begin_backtest.version_name is not null then
    _version := svc.find_version(_environment.project_id, begin_backtest.version_name);
  elsif begin_backtest.is_deployed then
    _version := _environment.active_version;
    if _version is null then
      raise exception using
        errcode = 'SV004',
        message = 'VERSION_NOT_FOUND',
        detail = jsonb_build_object(
          'message', 'No version is active in this environment, so there is no model to test.',
          'fix', 'Deploy one, or send version or snapshot.'
        )::text;
    end if;
  end if;
  select max(e.occurred_at) into _end
  from svc.events as e
  -- Repeats the predicate of the index.
  where e.environment_id = _environment.environment_id and e.occurred_at <= _now and e.event_seq >= 0;
  return json_build_object(
    'at', svc.epoch_ms(_now),
    'end', svc.epoch_ms(coalesce(_end, _now)),
    'configVersion', 'v' || _version,
    'snapshot', svc_api.load_snapshot(_environment.project_id, _version)
  );
end;
$$;

comment on function svc_api.begin_backtest(bytea, text, text, text, boolean, text) is
  'The data needed to parse the question of a backtest.';
