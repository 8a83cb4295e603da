-- The header and the statements for the export file of a frozen environment, as of the snapshot: {header: {export, migration, exportedAt,
-- exportedBy, organization, timeZone, project: {slug, name}, environment: {name, createdAt, activeVersion}, numbers: {batch, evaluation},
-- erased: {events, emissions, recomputes}, tables: [{name, columns, belongs}]}, statements: [text]}. export is new with each call; there is
-- one statement for each table that reads its rows.
-- Raises SV005 ENVIRONMENT_NOT_FROZEN, if it was unfrozen meanwhile, and RECOMPUTE_UNDER_WAY. Locks nothing.
create or replace function svc_api.operator_begin_export(environment_id integer)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _id constant integer := operator_begin_export.environment_id;
  _header json;
begin
  if not svc.is_frozen(_id) then
    raise exception using
      errcode = 'SV005',
      message = 'ENVIRONMENT_NOT_FROZEN',
      detail = jsonb_build_object(
        'message', 'The environment is no longer frozen: it was unfrozen meanwhile.', 'fix', 'Export it again if it is to be moved.'
      )::text;
  end if;
  perform svc.require_finished(_id);
  select json_build_object(
    'export', gen_random_uuid(),
    'migration', (select max(m.filename) from graphile_migrate.migrations as m),
    'exportedAt', svc.iso(clock_timestamp()),
    'exportedBy', session_user,
    'organization', o.slug,
    'timeZone', o.time_zone,
    'project', json_build_object('slug', p.slug, 'name', p.name),
    'environment', json_build_object('name', e.name, 'createdAt', e.created_at, 'activeVersion', e.active_version),
    'numbers', json_build_object(
      'batch', coalesce(pg_sequence_last_value(svc.batch_seq(_id)), 1),
      'evaluation', coalesce(pg_sequence_last_value(svc.evaluation_seq(_id)), 1)
    ),
    'erased', (
      select json_build_object(
        'events', coalesce(sum(x.events), 0), 'emissions', coalesce(sum(x.emissions), 0), 'recomputes', coalesce(sum(x.recomputes), 0)
      )
      from svc.erased_rows() as x
      where x.environment_id = _id
    ),
    'tables', (
      select json_agg(json_build_object('name', t.name, 'columns', t.columns, 'belongs', t.belongs)) from svc.environment_tables() as t
    )
  )
  into _header
  from svc.environments as e
  join svc.projects as p on p.project_id = e.project_id
  join iam.organizations as o on o.organization_id = p.organization_id
  where e.environment_id = _id;
  return json_build_object(
    'header', _header,
    'statements', (
      select json_agg(format(
        'copy (select %s from svc.%I as t where %s) to stdout',
        (select string_agg(format('t.%I', c.name), ', ' order by c.place) from unnest(t.columns) with ordinality as c (name, place)),
        t.name,
        case t.belongs
          when 'environment' then format('t.environment_id = %s', _id)
          when 'project' then format(
            't.project_id = %s', (select e.project_id from svc.environments as e where e.environment_id = _id)
          )
          when 'key' then format('t.key_hash in (select k.key_hash from svc.api_keys as k where k.environment_id = %s)', _id)
        end
      ))
      from svc.environment_tables() as t
    )
  );
end;
$$;

comment on function svc_api.operator_begin_export(integer) is
  'The header and the statements for the export file of an environment; for the operator only.';
