-- Prepares an environment for the rows of an export, whose header is the answer of svc_api.operator_begin_export: {environmentId,
-- projectId, isThere}. isThere means that it was imported from this very export before; then there is nothing to do. A missing project is
-- created, with both of its environments. The rows, svc_api.operator_import_versions and operator_finish_import follow in this transaction,
-- and until its end nothing else can be stored in the environment.
-- Raises SV004 ORGANIZATION_NOT_FOUND, SV005 ENVIRONMENT_NOT_IMPORTED if the database has another version or other tables, the slug is
-- invalid, or the environment is not empty. Locks the rows of the project and the environment, and its sequences: ingestion, if there is
-- any, waits for the end of the transaction.
create or replace function svc_api.operator_begin_import(header json, organization_slug text, project_slug text)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _header constant jsonb := operator_begin_import.header::jsonb;
  _name constant text := _header -> 'environment' ->> 'name';
  _organization_id constant text := iam.organization_of_slug(operator_begin_import.organization_slug);
  _migration constant text := (select max(m.filename) from graphile_migrate.migrations as m);
  _project_id integer;
  _environment svc.environments;
  _table record;
  _is_there boolean;
  _number record;
begin
  if _header ->> 'migration' is distinct from _migration then
    perform svc.refuse_import(
      format('The file is of a database whose last migration is %s; that of this one is %s.', _header ->> 'migration', _migration),
      'Bring both to the same version, then export again.'
    );
  end if;
  if _header -> 'tables' is distinct from (
    select jsonb_agg(jsonb_build_object('name', t.name, 'columns', t.columns, 'belongs', t.belongs)) from svc.environment_tables() as t
  ) then
    perform svc.refuse_import(
      'The tables of the file are not those of this database.', 'Bring both databases to the same version, then export again.'
    );
  end if;
  if operator_begin_import.project_slug !~ '^[a-z0-9][a-z0-9-]{0,62}$' then
    perform svc.refuse_import(
      format('"%s" is not a valid project slug.', left(operator_begin_import.project_slug, 256)),
      'Use 1 to 63 lower-case letters, digits and hyphens.'
    );
  end if;

  insert into svc.projects (organization_id, slug, name)
  values (_organization_id, operator_begin_import.project_slug, _header -> 'project' ->> 'name')
  on conflict on constraint projects_slug_key do nothing
  returning project_id into _project_id;
  if found then
    perform svc.add_environments(_project_id);
    perform iam.record_audit(
      iam.operator_actor(_organization_id), null, 'project.created', operator_begin_import.project_slug, null,
      operator_begin_import.project_slug, null
    );
  end if;
  -- Serializes the numbering of versions.
  select p.project_id into _project_id
  from svc.projects as p
  where p.organization_id = _organization_id and p.slug = operator_begin_import.project_slug
  for no key update;
  select e.* into strict _environment
  from svc.environments as e
  where e.project_id = _project_id and e.name = _name
  for update;

  if _environment.imported_from = (_header ->> 'export')::uuid then
    return json_build_object('environmentId', _environment.environment_id, 'projectId', _project_id, 'isThere', true);
  end if;

  -- Locks the sequences until the end of the transaction: ingest calls that are about to take a number wait; those that took one have
  -- ended.
  for _number in
    select n.sequence, n.last
    from (values
      (svc.batch_seq(_environment.environment_id), (_header -> 'numbers' ->> 'batch')::bigint),
      (svc.evaluation_seq(_environment.environment_id), (_header -> 'numbers' ->> 'evaluation')::bigint)
    ) as n (sequence, last)
  loop
    -- Unlike setval alone, this is rolled back with the transaction.
    execute format('alter sequence %s restart with %s', _number.sequence, _number.last);
    perform setval(_number.sequence, _number.last);
  end loop;

  for _table in
    select t.name
    from svc.environment_tables() as t
    -- Even an unused environment can have rows in these.
    where t.belongs = 'environment' and t.name not in ('api_keys', 'trend_progress', 'retention', 'usage_checks')
  loop
    execute format('select exists (select from svc.%I where environment_id = $1)', _table.name)
    into _is_there using _environment.environment_id;
    if _is_there and _environment.frozen_at is not null then
      perform svc.refuse_import(
        format(
          'The environment %s of the project "%s" is frozen here since %s and not empty, as a move leaves it: svc.%s has rows of it.',
          _name, operator_begin_import.project_slug, svc.iso(_environment.frozen_at), _table.name
        ),
        format(
          'If it lives elsewhere now, delete this copy: svc-server environments delete --organization %s --project %s --env %s. If it '
          'never left, it needs no import: unfreeze it.',
          operator_begin_import.organization_slug, operator_begin_import.project_slug, _name
        )
      );
    end if;
    if _is_there then
      perform svc.refuse_import(
        format(
          'The environment %s of the project "%s" is not empty: svc.%s has rows of it.', _name, operator_begin_import.project_slug,
          _table.name
        ),
        'Name another project with --project; a missing one is created.'
      );
    end if;
  end loop;
  delete from svc.trend_progress as p where p.environment_id = _environment.environment_id;
  delete from svc.retention as r where r.environment_id = _environment.environment_id;
  delete from svc.usage_checks as c where c.environment_id = _environment.environment_id;

  -- Versions that the project already has are only compared.
  create temporary table imported_versions (like svc.config_versions including generated) on commit drop;
  return json_build_object('environmentId', _environment.environment_id, 'projectId', _project_id, 'isThere', false);
end;
$$;

comment on function svc_api.operator_begin_import(json, text, text) is
  'Prepares an environment for the rows of an export; for the operator only.';
