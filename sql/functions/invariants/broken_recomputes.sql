-- Recomputes whose row contradicts itself, its results, or one that runs at the same time. An erasure deletes results but not their counts.
-- Raises nothing, locks nothing.
create or replace function svc.broken_recomputes()
returns table (invariant text, environment_id integer, example text)
language sql
stable
set search_path = ''
as $$
  with results as (
    select c.environment_id, c.recompute_id, count(*) as customers
    from svc.recompute_customers as c
    group by c.environment_id, c.recompute_id
  )
  select
    'recomputes_are_consistent', r.environment_id,
    format('%s is %s and keeps %s emissions that were not delivered', r.recompute_id, r.status, r.outbox_emissions)
  from svc.recomputes as r
  where (r.outbox_seq is null) <> (r.outbox_emissions = 0) or (r.outbox_seq is not null and r.finished_at is not null)
  union all
  select
    'recomputes_are_consistent', r.environment_id,
    format('%s is completed, with %s of %s customers', r.recompute_id, r.customers_done, coalesce(r.customers_total::text, 'unknown'))
  from svc.recomputes as r
  where r.status = 'completed' and r.customers_total is distinct from r.customers_done
  union all
  select
    'recomputes_are_consistent', s.environment_id,
    format(
      '%s has %s results and says that %s customers change', s.recompute_id, s.customers, coalesce(r.customers_changed::text, 'no')
    )
  from results as s
  left join svc.recomputes as r on r.environment_id = s.environment_id and r.recompute_id = s.recompute_id
  where (s.customers <= r.customers_changed) is not true
  union all
  select
    'recomputes_run_one_at_a_time', r.environment_id,
    format('these run at the same time: %s', string_agg(r.recompute_id, ', ' order by r.recompute_seq))
  from svc.recomputes as r
  where r.status = 'running'
  group by r.environment_id, svc.recompute_lane(r.kind)
  having count(*) > 1
  union all
  select 'rows_belong_to_an_environment', r.environment_id, format('the recompute %s', r.recompute_id)
  from svc.recomputes as r
  left join svc.environments as e on e.environment_id = r.environment_id
  where e.environment_id is null
  union all
  select 'versions_in_use_are_stored', r.environment_id, format('v%s, which %s is pinned to', p.version, r.recompute_id)
  from svc.recomputes as r
  join svc.environments as e on e.environment_id = r.environment_id
  cross join lateral (values (r.version), (substr(r.question ->> 'against', 2)::integer)) as p (version)
  left join svc.config_versions as v on v.project_id = e.project_id and v.version = p.version
  where p.version is not null and v.version is null
$$;

comment on function svc.broken_recomputes() is 'Invariants: recomputes.';
