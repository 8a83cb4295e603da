-- The funnel of the lifecycle: customers in each state now, and how many ever entered it, in the current generation of their
-- history; the declared states first, in the author's order.
-- Raises nothing, locks nothing.
create or replace function svc.lifecycle_counts(environment_id integer, declared text[])
returns json
language sql
stable
set search_path = ''
as $$
  with present as (
    select c.lifecycle as state, count(*) as customers
    from svc.customers as c
    where c.environment_id = lifecycle_counts.environment_id and c.lifecycle is not null
    group by c.lifecycle
  ),
  entered as (
    select e.to_state as state, count(*) as customers
    from (
      -- Hashed, whereas count(distinct …) would sort all of them.
      select distinct t.to_state, t.customer_id
      from svc.lifecycle_transitions as t
      join svc.customers as c
        on c.environment_id = lifecycle_counts.environment_id and c.customer_id = t.customer_id and c.generation = t.generation
      where t.environment_id = lifecycle_counts.environment_id
    ) as e
    group by e.to_state
  )
  select coalesce(
    json_agg(
      json_build_object('state', state, 'customers', coalesce(p.customers, 0), 'everEntered', coalesce(n.customers, 0))
      order by d.position, state collate "C"
    ) filter (where d.position is not null or p.customers > 0),
    '[]'
  )
  from unnest(lifecycle_counts.declared) with ordinality as d (state, position)
  full join present as p using (state)
  full join entered as n using (state);
$$;

comment on function svc.lifecycle_counts(integer, text[]) is 'The funnel of the lifecycle: customers in each state now and ever.';
