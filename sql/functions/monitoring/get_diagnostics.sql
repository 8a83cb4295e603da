-- The common problems of an environment, most severe first: {data: [{code, severity, message, fix, count, details}]}, empty if there are
-- none. Each check reads by index and a limited number of rows, however large the environment is.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND. Locks nothing.
create or replace function svc_api.get_diagnostics(token_hash bytea, organization_id text, project_slug text, environment_name text)
returns json
language plpgsql
stable
security definer
set search_path = ''
-- Statistics lag behind a backfill, and what is small now may be large when the plan is used again.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set jit = off
as $$
declare
  _environment constant record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'get_diagnostics');
  _id constant integer := _environment.environment_id;
  _project constant integer := _environment.project_id;
  _version constant integer := _environment.active_version;
  _name constant text := get_diagnostics.environment_name;
begin
  return (
    select json_build_object(
      'data',
      coalesce(
        json_agg(f.finding order by array_position(array['problem', 'warning', 'info'], f.finding ->> 'severity'), f.n)
          filter (where f.finding is not null),
        '[]'
      )
    )
    from unnest(array[
      svc.check_workers(),
      svc.check_configuration(_name, _version),
      svc.check_set_aside(_id, _name),
      svc.check_operations(_id),
      svc.check_timers(_id),
      svc.check_recomputes(_id, _name),
      svc.check_webhooks(_id, _name),
      svc.check_rules(_id, _name),
      svc.check_disabled_webhooks(_id, _name),
      svc.check_versions(_id, _name, _version),
      svc.check_removed_parts(_id, _name, _project, _version),
      svc.check_undeclared_events(_id, _project, _version),
      svc.check_violations(_id, _version),
      svc.check_quarantine(_id, _name, _project, _version),
      svc.check_declared_events(_id, _project, _version),
      svc.check_retention(_id, _project, _version),
      svc.check_keys(_id, _name),
      svc.check_states(_id, _name, _project, _version)
    ]) with ordinality as f (finding, n)
  );
end;
$$;

comment on function svc_api.get_diagnostics(bytea, text, text, text) is 'The common problems of an environment, most severe first.';
