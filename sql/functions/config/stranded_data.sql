-- What would be stranded if a snapshot became active: customers in parts that it removes, or that lose their condition; stored traits and
-- events that do not conform to it; violations that were only counted; and webhooks left without emissions. The snapshot is compared with
-- the active version, so what that one removed is not reported again. A list of {code, message, path}: the path refers to the active
-- snapshot for removed parts, to the new one for changed ones; it is empty for webhooks.
-- Raises nothing, locks nothing.
create or replace function svc.stranded_data(environment_id integer, snapshot json)
returns jsonb
language sql
stable
set search_path = ''
as $$
  select coalesce(jsonb_agg(jsonb_build_object('code', w.code, 'message', w.message, 'path', w.path) order by w.part, w.n), '[]')
  from svc.environments as e
  join svc.config_versions as v on v.project_id = e.project_id and v.version = e.active_version
  cross join lateral (
    select 1 as part, p.code, p.message, p.path, p.n
    from svc.stranded_parts(e.environment_id, v.snapshot, stranded_data.snapshot) with ordinality as p (code, message, path, n)
    union all
    select 2, t.code, t.message, t.path, t.n
    from svc.stranded_traits(e.environment_id, v.snapshot, stranded_data.snapshot) with ordinality as t (code, message, path, n)
    union all
    select 3, o.code, o.message, o.path, o.n
    from svc.stranded_events(e.environment_id, v.snapshot, stranded_data.snapshot) with ordinality as o (code, message, path, n)
    union all
    select 4, c.code, c.message, c.path, 1
    from svc.stranded_operations(e.environment_id, v.snapshot, stranded_data.snapshot) as c
    union all
    select 5, h.code, h.message, h.path, h.n
    from svc.stranded_webhooks(e.environment_id, v.snapshot, stranded_data.snapshot) with ordinality as h (code, message, path, n)
  ) as w
  where e.environment_id = stranded_data.environment_id;
$$;

comment on function svc.stranded_data(integer, json) is
  'The data that would be stranded if a snapshot became active: {code, message, path}.';
