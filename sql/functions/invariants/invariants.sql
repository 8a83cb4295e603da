-- Contradictions to the rule that nothing is lost, duplicated or left behind: no row if all is well, at every instant, whatever is
-- in progress. It reads one snapshot and locks nothing, so it can run during operation or on a replica. All tables are read completely and
-- joined by hashes: it takes ten seconds for a million events with keys and 50,000 customers with their rows, and proportionally longer
-- for more.
-- Raises nothing.
create or replace function svc_inspect.invariants()
returns table (
  invariant text,
  holds text,
  organization text,
  project text,
  environment text,
  violations bigint,
  examples text[],
  advice text
)
language sql
stable
security definer
set search_path = ''
-- Read whole tables, whatever the statistics say.
set enable_nestloop = off
set work_mem = '64MB'
set jit = off
as $$
  with broken as (
    select * from svc.broken_batches()
    union all
    select * from svc.broken_keys()
    union all
    select * from svc.broken_quarantine()
    union all
    select * from svc.broken_inbox()
    union all
    select * from svc.broken_customers()
    union all
    select * from svc.broken_usage()
    union all
    select * from svc.broken_logs()
    union all
    select * from svc.broken_parts()
    union all
    select * from svc.broken_emissions()
    union all
    select * from svc.broken_deliveries()
    union all
    select * from svc.broken_recomputes()
    union all
    select * from svc.broken_trends()
    union all
    select * from svc.broken_installation()
  ),
  grouped as (
    select
      b.invariant, b.environment_id, count(*) as violations,
      (array_agg(b.example order by b.example))[1:5] as examples
    from broken as b
    group by b.invariant, b.environment_id
  )
  select g.invariant, k.holds, o.slug, p.slug, e.name, g.violations, g.examples, k.advice
  from grouped as g
  left join svc.known_invariants() as k on k.invariant = g.invariant
  left join svc.environments as e on e.environment_id = g.environment_id
  left join svc.projects as p on p.project_id = e.project_id
  left join iam.organizations as o on o.organization_id = p.organization_id
  order by k.place, o.slug, p.slug, e.name
$$;

comment on function svc_inspect.invariants() is
  'Contradictions to the rule that nothing is lost, duplicated or left behind: no row if all is well. Reads everything, in one snapshot.';
