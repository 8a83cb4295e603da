-- The tables that make up an environment, in the order in which they can be filled, with their columns from the catalog, except generated
-- ones and the ids of environment and project, which differ between databases. belongs says how rows belong to an environment: directly,
-- through its project, or through its keys. Every table with an environment is included, except those that each
-- database fills itself: svc.environments, svc.homes, svc.evaluation_slots and svc.suspect_environments.
-- Raises nothing, locks nothing.
create or replace function svc.environment_tables()
returns table (name text, columns text[], belongs text)
language sql
stable
set search_path = ''
as $$
  select t.relname::text, t.columns, t.belongs
  from (
    select
      c.relname, array_agg(a.attname::text order by a.attname) filter (where a.attname not in ('environment_id', 'project_id')) as columns,
      case
        when bool_or(a.attname = 'environment_id') then 'environment'
        when c.relname = 'config_versions' then 'project'
        when c.relname = 'key_usage' then 'key'
      end as belongs
    from pg_catalog.pg_class as c
    join pg_catalog.pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    where c.relnamespace = 'svc'::regnamespace and c.relkind in ('r', 'p')
      and c.relname not in ('environments', 'homes', 'evaluation_slots', 'suspect_environments')
    group by c.relname
  ) as t
  where t.belongs is not null
  -- Versions and secrets first, since they are what may be refused; keys before their usage, and webhooks before their deliveries.
  order by t.relname <> 'config_versions', t.relname <> 'webhooks', t.relname <> 'api_keys', t.relname
$$;

comment on function svc.environment_tables() is 'The tables that make up an environment, and their columns.';
