-- Finds a configuration version by its name, such as v3; with latest = true also by the name latest, which is the newest.
-- Raises SV004 VERSION_NOT_FOUND, also for a text that is not a version's name. Locks nothing.
create or replace function svc.find_version(project_id integer, version_name text, latest boolean default false)
returns integer
language plpgsql
stable
set search_path = ''
as $$
declare
  _version integer;
begin
  select v.version into _version
  from svc.config_versions as v
  where v.project_id = find_version.project_id
    and (
      -- At most as many digits as always fit into an integer.
      v.version = case when find_version.version_name ~ '^v[1-9][0-9]{0,8}$' then substr(find_version.version_name, 2)::integer end
      or find_version.version_name = 'latest' and find_version.latest
    )
  order by v.version desc
  limit 1;
  if not found then
    perform svc.raise_not_found(
      'VERSION_NOT_FOUND', 'configuration version', find_version.version_name, 'in this project',
      'Versions are called v1, v2 and so on; the list of configuration versions shows all of them.'
    );
  end if;
  return _version;
end;
$$;

comment on function svc.find_version(integer, text, boolean) is 'A version of a project by its name; raises VERSION_NOT_FOUND.';
