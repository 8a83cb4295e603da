-- STATE_OUTDATED if the state of customers was computed under a version with another model than the active one, with the number for
-- each; else null. Versions are looked up one by one, so that the customers of the active one are not read.
-- Raises nothing, locks nothing.
create or replace function svc.check_versions(environment_id integer, environment_name text, active_version integer)
returns json
language plpgsql
stable
set search_path = ''
as $$
declare
  -- The active version and others with the same model; none if there is no active one. On a cluster not within the statement below, all
  -- of whose tables have to be of one environment.
  _alike constant integer[] := array(
    select s.version
    from svc.environments as e
    join svc.config_versions as a on a.project_id = e.project_id and a.version = check_versions.active_version
    join svc.config_versions as s on s.project_id = a.project_id and s.hash = a.hash
    where e.environment_id = check_versions.environment_id
  );
  _finding json;
begin
  with recursive version as (
    select (
      select min(coalesce(c.config_version, 0))
      from svc.customers as c
      where c.environment_id = check_versions.environment_id and coalesce(c.config_version, 0) >= 0
    ) as number
    union all
    select (
      select min(coalesce(c.config_version, 0))
      from svc.customers as c
      where c.environment_id = check_versions.environment_id and coalesce(c.config_version, 0) > v.number
        and coalesce(c.config_version, 0) >= 0
    )
    from version as v
    where v.number is not null
  ),
  outdated as (
    select v.number, n.customers
    from version as v
    cross join lateral (
      select count(*) as customers
      from (
        select 1 from svc.customers as c
        where c.environment_id = check_versions.environment_id and coalesce(c.config_version, 0) = v.number
          and coalesce(c.config_version, 0) >= 0
        limit 10001
      ) as k
    ) as n
    where v.number <> all(_alike) and _alike <> '{}'
  )
  select svc.finding(
    'STATE_OUTDATED',
    'warning',
    format(
      'the state of %s was computed under another version than the active v%s.',
      svc.count_text(sum(o.customers)::bigint, 'customer', 'customers'), check_versions.active_version
    ),
    format(
      'Their next event or timer brings them up to the active version; what was derived before stays. '
      'To derive everything again: svc recompute --all --env %s',
      check_versions.environment_name
    ),
    sum(o.customers)::bigint,
    json_build_object(
      'activeVersion', 'v' || check_versions.active_version,
      'versions', json_agg(
        json_build_object('configVersion', 'v' || nullif(o.number, 0), 'customers', least(o.customers, 10000)) order by o.number desc
      )
    )
  )
  into _finding
  from outdated as o
  having count(*) > 0;
  return _finding;
end;
$$;

comment on function svc.check_versions(integer, text, integer) is 'Diagnostics: state computed under another version than the active one.';
