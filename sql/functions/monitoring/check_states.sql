-- STATES_NEVER_REACHED if no customer ever entered some of the active version's lifecycle states, by the current histories, although there
-- are customers; else null. If no customer is in a state, the last 10,000 transitions into it are checked.
-- Raises nothing, locks nothing.
create or replace function svc.check_states(environment_id integer, environment_name text, project_id integer, active_version integer)
returns json
language plpgsql
stable
set search_path = ''
as $$
declare
  _states constant text[] := svc.part_names(check_states.project_id, check_states.active_version, 'state');
begin
  if not svc.has_customers(check_states.environment_id) then
    return null;
  end if;
  return (
    select svc.finding(
      'STATES_NEVER_REACHED',
      'info',
      svc.count_text(count(*), 'lifecycle state was', 'lifecycle states were') || ' never reached by any customer.',
      format(
        'If you did not expect that, check the conditions of the transitions that lead there. What one customer lacks: '
        'svc customers inspect <customerId> --env %s',
        check_states.environment_name
      ),
      count(*),
      json_build_object('states', json_agg(s.state order by s.position))
    )
    from unnest(_states) with ordinality as s (state, position)
    left join lateral (
      select true as reached
      from (
        select t.customer_id, t.generation
        from svc.lifecycle_transitions as t
        where t.environment_id = check_states.environment_id and t.to_state = s.state
        order by t.transition_seq desc
        limit 10000
      ) as t
      -- By key: a scalar sub-query is never turned into a join that reads all customers.
      where t.generation = (
        select c.generation from svc.customers as c
        where c.environment_id = check_states.environment_id and c.customer_id = t.customer_id
      )
      limit 1
    ) as r on true
    where r.reached is null
      and not exists (
        select 1 from svc.customers as c where c.environment_id = check_states.environment_id and c.lifecycle = s.state
      )
    having count(*) > 0
  );
end;
$$;

comment on function svc.check_states(integer, text, integer, integer) is 'Diagnostics: lifecycle states that no customer reached.';
