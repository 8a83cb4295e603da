-- Completes an environment after the rows of an export's file were loaded: its active version, sequences that continue after the imported
-- numbers, an entry of the audit log, a job for waiting operations and a notification of waiting deliveries.
-- Raises nothing. Locks svc.environments against other imports that end; the caller's transaction has locked the environment's row.
create or replace function svc_api.operator_finish_import(environment_id integer, header json)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _id constant integer := operator_finish_import.environment_id;
  _header constant jsonb := operator_finish_import.header::jsonb;
  _organization_id text;
  _project text;
  _time_zone text;
  _column record;
  _last bigint;
begin
  update svc.environments as e
  set
    active_version = (_header -> 'environment' ->> 'activeVersion')::integer,
    created_at = (_header -> 'environment' ->> 'createdAt')::timestamptz,
    imported_from = (_header ->> 'export')::uuid,
    frozen_at = null
  where e.environment_id = _id;

  -- Columns that number the rows of all environments. A transaction that takes a number meanwhile gets one of the million that are skipped.
  -- Of two imports the later one looks once the other has ended, so that none sets a sequence back. Changes of environments do not wait.
  lock table svc.environments in share update exclusive mode;
  for _column in
    select t.name as relation, a.attname as name, pg_get_serial_sequence(format('svc.%I', t.name), a.attname)::regclass as sequence
    from svc.environment_tables() as t
    join pg_catalog.pg_attribute as a on a.attrelid = format('svc.%I', t.name)::regclass and a.attname = any(t.columns)
    where t.belongs = 'environment' and pg_get_serial_sequence(format('svc.%I', t.name), a.attname) is not null
  loop
    execute format('select max(%I) from svc.%I where environment_id = $1', _column.name, _column.relation) into _last using _id;
    if _last > coalesce(pg_sequence_last_value(_column.sequence), 0) then
      perform setval(_column.sequence, _last + 1000000);
    end if;
  end loop;

  select p.organization_id, p.slug, o.time_zone into _organization_id, _project, _time_zone
  from svc.environments as e
  join svc.projects as p on p.project_id = e.project_id
  join iam.organizations as o on o.organization_id = p.organization_id
  where e.environment_id = _id;
  -- Days may begin at other hours here, and the transaction ids in outdated_since belong to the other database.
  update svc.trend_progress as p
  set outdated_since = '0'
  where p.environment_id = _id and (p.outdated_since is not null or _time_zone <> _header ->> 'timeZone');

  perform iam.record_audit(
    iam.operator_actor(_organization_id), null, 'environment.imported', _project, _header -> 'environment' ->> 'name', null,
    (_header -> 'erased') || jsonb_build_object('export', _header ->> 'export')
  );
  perform svc.request_evaluation(array[_id]);
  perform pg_notify('svc_deliveries', '');
end;
$$;

comment on function svc_api.operator_finish_import(integer, json) is
  'Completes an environment after the rows of an export were loaded; for the operator only.';
