-- The lifecycle's funnel: customers in each state now, and how many ever entered it in the present generation of their
-- history.
-- Raises nothing, locks nothing.
create or replace function svc.lifecycle_counts(environment_id integer)
returns json
language sql
stable
strict
set search_path = ''
begin atomic
  with declared as (
    select s.state ->> 'name' as state, s.ordinality as position
    from svc.environments as e
    join svc.config_versions as v on v.project_id = e.project_id and v.version = e.active_version
    cross join lateral json_array_elements(v.snapshot -> 'lifecycle' -> 'states') with ordinality as s (state)
    where e.environment_id = lifecycle_counts.environment_id and json_typeof(v.snapshot -> 'lifecycle') = 'object'
  ),
  present as (
    select c.lifecycle as state, count(*) as customers
    from svc.customers as c
    where c.environment_id = lifecycle_counts.environment_id and c.lifecycle is not null
    group by c.lifecycle
  ),
  entered as (
    select t.to_state as state, count(distinct t.customer_id) as customers
    from svc.lifecycle_transitions as t
    join svc.customers as c
      on c.environment_id = t.environment_id and c.customer_id = t.customer_id and c.generation = t.generation
    where t.environment_id = lifecycle_counts.environment_id
    group by t.to_state
  )
  select coalesce(
    json_agg(
      json_build_object('state', state, 'customers', coalesce(p.customers, 0), 'everEntered', coalesce(n.customers, 0))
      order by d.position, state collate "C"
    ) filter (where d.position is not null or p.customers > 0),
    '[]'
  )
  from declared as d
  full join present as p using (state)
  full join entered as n using (state);
end;

comment on function svc.lifecycle_counts(integer) is 'The lifecycle''s funnel: customers in each state now and ever.';
