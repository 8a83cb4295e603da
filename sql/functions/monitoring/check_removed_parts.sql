-- REMOVED_PARTS_IN_USE if customers are in states, segments, journeys or signals that the active version no longer has, as a forced deploy
-- leaves them, with ten of them; else null. Compares the active version with the twenty that were active before it.
-- Raises nothing, locks nothing.
create or replace function svc.check_removed_parts(
  environment_id integer, environment_name text, project_id integer, active_version integer
)
returns json
language sql
stable
set search_path = ''
as $$
  with former as materialized (
    select a.version
    from svc.config_activations as a
    where a.environment_id = check_removed_parts.environment_id and a.version <> check_removed_parts.active_version
    group by a.version
    order by max(a.activation_seq) desc
    limit 20
  ),
  removed as (
    select p.code, p.message, row_number() over (order by p.code, p.message) as turn
    from former as f
    join svc.config_versions as v on v.project_id = check_removed_parts.project_id and v.version = f.version
    join svc.config_versions as a
      on a.project_id = check_removed_parts.project_id and a.version = check_removed_parts.active_version
    cross join lateral svc.stranded_parts(check_removed_parts.environment_id, v.snapshot, a.snapshot) as p
    group by p.code, p.message
  )
  select svc.finding(
    'REMOVED_PARTS_IN_USE',
    'warning',
    format(
      'Customers are in %s that the active v%s no longer has: nothing that happens to them changes that.',
      svc.count_text(count(*), 'part', 'parts'), check_removed_parts.active_version
    ),
    format(
      'Derive their state from their history: svc recompute --all --env %s. Or deploy a version that has these parts.',
      check_removed_parts.environment_name
    ),
    count(*),
    json_build_object('parts', json_agg(json_build_object('code', r.code, 'message', r.message) order by r.turn)
      filter (where r.turn <= 10))
  )
  from removed as r
  having count(*) > 0;
$$;

comment on function svc.check_removed_parts(integer, text, integer, integer) is
  'Diagnostics: parts that customers are in and the active version no longer has.';
