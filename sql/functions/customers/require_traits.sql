-- Checks the filters of traits of a list in which nothing was found, like svc.require_part: the active version must declare the name, or
-- one of the environment's first 2,000 customers have it; a text, alone or in a list, for a trait with declared values must be one of
-- these. Nothing is checked before the first version, and no name if it declares no traits.
-- Raises SV006 VALIDATION_ERROR with the declared names or values. Locks nothing.
create or replace function svc.require_traits(environment_id integer, project_id integer, active_version integer, traits jsonb)
returns void
language plpgsql
stable
set search_path = ''
as $$
declare
  _filter record;
  _fields constant json := (
    select v.snapshot -> 'traits'
    from svc.config_versions as v
    where v.project_id = require_traits.project_id and v.version = require_traits.active_version
  );
  _names constant text[] := array(select json_object_keys(_fields));
begin
  for _filter in
    select
      f.name, f.name = any(_names) as is_declared, e.enum,
      (
        select w.value #>> '{}'
        from jsonb_array_elements(case jsonb_typeof(f.value) when 'array' then f.value else jsonb_build_array(f.value) end) as w (value)
        where jsonb_typeof(w.value) = 'string' and not e.enum ? (w.value #>> '{}')
        limit 1
      ) as undeclared
    from jsonb_each(require_traits.traits) as f (name, value)
    cross join lateral (
      select coalesce(_fields #> array[f.name, 'enum'], _fields #> array[f.name, 'items', 'enum'])::jsonb as enum
    ) as e
  loop
    if not _filter.is_declared and _names <> '{}' and not exists (
      select
      from (
        select c.traits
        from svc.customers as c
        where c.environment_id = require_traits.environment_id
        order by c.customer_id
        limit 2000
      ) as c
      where c.traits ? _filter.name
    ) then
      perform svc.raise_undeclared('traits', _filter.name, 'The active version declares no trait of this name.', _names);
    elsif _filter.undeclared is not null then
      perform svc.raise_undeclared(
        'traits', _filter.undeclared, format('The active version declares other values of the trait "%s".', _filter.name),
        array(select jsonb_array_elements_text(_filter.enum))
      );
    end if;
  end loop;
end;
$$;

comment on function svc.require_traits(integer, integer, integer, jsonb) is
  'Raises VALIDATION_ERROR if the active version does not declare the traits of a filter.';
