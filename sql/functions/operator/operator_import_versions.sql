-- Adds to a project the configuration versions in the temporary table of svc_api.operator_begin_import, under their numbers. Versions that
-- it already has must be identical.
-- Raises SV005 ENVIRONMENT_NOT_IMPORTED if one differs. Locks nothing; the caller's transaction has locked the project's row.
create or replace function svc_api.operator_import_versions(project_id integer)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _id constant integer := operator_import_versions.project_id;
  _other integer;
  _version integer;
begin
  select min(i.version) into _other
  from pg_temp.imported_versions as i
  join svc.config_versions as v on v.project_id = _id and v.version = i.version
  where v.hash <> i.hash;
  if _other is not null then
    perform svc.refuse_import(
      format('The version v%s of this project differs from that in the file.', _other),
      'Name another project with --project; a missing one is created.'
    );
  end if;

  for _version in
    insert into svc.config_versions (project_id, version, hash, snapshot, author, provenance, created_at)
    select _id, i.version, i.hash, i.snapshot, i.author, i.provenance, i.created_at
    from pg_temp.imported_versions as i
    where not exists (select from svc.config_versions as v where v.project_id = _id and v.version = i.version)
    order by i.version
    returning version
  loop
    perform svc.compile_payload_checks(_id, _version);
  end loop;
end;
$$;

comment on function svc_api.operator_import_versions(integer) is
  'Adds the configuration versions of an export to a project; for the operator only.';
