-- Deletes all data of a frozen environment: {rows}, with the number for each table. What remains is like an environment of a new project
-- and no longer frozen. The project's versions stay, because the other environment may use them. Ids continue after those already used,
-- because receivers recognize repetitions by them.
-- Raises SV004 ORGANIZATION_NOT_FOUND or PROJECT_NOT_FOUND, SV005 ENVIRONMENT_NOT_FROZEN, also while a transaction runs that may not have
-- seen it frozen, or RECOMPUTE_UNDER_WAY. Locks the environment's row and what it deletes.
create or replace function svc_api.operator_delete_environment(organization_slug text, project_slug text, environment_name text)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _organization_id constant text := iam.organization_of_slug(operator_delete_environment.organization_slug);
  _id constant integer := (
    svc.find_environment(
      _organization_id, operator_delete_environment.project_slug, operator_delete_environment.environment_name
    )
  ).environment_id;
  _frozen_at timestamptz;
  _pids text;
  _table text;
  _deleted bigint;
  _rows jsonb := '{}';
begin
  select e.frozen_at into _frozen_at from svc.environments as e where e.environment_id = _id for no key update;
  -- 10 seconds are many times what freezing takes: a transaction that began before the freeze was committed has not seen it.
  select string_agg(a.pid::text, ', ' order by a.pid) into _pids
  from pg_catalog.pg_stat_activity as a
  where a.datname = current_database() and a.pid <> pg_backend_pid() and a.usesysid is not null
    and a.xact_start < _frozen_at + interval '10 seconds';
  if _frozen_at is null or _pids is not null then
    raise exception using
      errcode = 'SV005',
      message = 'ENVIRONMENT_NOT_FROZEN',
      detail = case
        when _frozen_at is null then jsonb_build_object(
          'message', 'The environment is not frozen, so it is in use, and nothing was deleted.',
          'fix', 'Export it first, which freezes it.'
        )
        else jsonb_build_object(
          'message', format(
            'Transactions that began before the environment was frozen are still running, in the server processes %s.', _pids
          ),
          'fix', 'Wait until they have ended, then repeat.'
        )
      end::text;
  end if;
  perform svc.require_finished(_id);

  -- Sweeps and counts lock one of these first, and pass over an environment of which it is held. Otherwise one of them could wait for rows
  -- that are deleted here, and this for it.
  perform from svc.retention as r where r.environment_id = _id for update;
  perform from svc.trend_progress as p where p.environment_id = _id for update;
  perform from svc.usage_checks as c where c.environment_id = _id for update;

  for _table in
    -- Keys and webhooks last: other rows refer to them.
    select t.name
    from svc.environment_tables() as t
    where t.belongs = 'environment'
    order by t.name in ('api_keys', 'webhooks'), t.name
  loop
    execute format('delete from svc.%I where environment_id = $1', _table) using _id;
    get diagnostics _deleted = row_count;
    _rows := _rows || jsonb_build_object(_table, _deleted);
  end loop;
  delete from svc.suspect_environments as s where s.environment_id = _id;
  update svc.environments as e
  set active_version = null, frozen_at = null, imported_from = null
  where e.environment_id = _id;

  perform iam.record_audit(
    iam.operator_actor(_organization_id), null, 'environment.deleted', operator_delete_environment.project_slug,
    operator_delete_environment.environment_name, null,
    jsonb_build_object('events', _rows -> 'events', 'customers', _rows -> 'customers')
  );
  return json_build_object('rows', _rows);
end;
$$;

comment on function svc_api.operator_delete_environment(text, text, text) is
  'Deletes all data of a frozen environment; for the operator only.';
