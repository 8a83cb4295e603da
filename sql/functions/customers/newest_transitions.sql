-- The last written lifecycle transitions of an environment before a position, into one state or, if that is null, into any: at most
-- row_limit, including those of former histories. The states that were ever entered are found one after the other by the index.
-- Raises nothing, locks nothing.
create or replace function svc.newest_transitions(environment_id integer, entered text, before bigint, row_limit integer)
returns setof svc.lifecycle_transitions
language sql
stable
rows 2000
set search_path = ''
as $$
  with recursive states as (
    select coalesce(
      newest_transitions.entered,
      (select min(t.to_state) from svc.lifecycle_transitions as t where t.environment_id = newest_transitions.environment_id)
    ) as state
    union all
    select (
      select min(t.to_state)
      from svc.lifecycle_transitions as t
      where t.environment_id = newest_transitions.environment_id and t.to_state > s.state
    )
    from states as s
    where s.state is not null and newest_transitions.entered is null
  )
  select l.*
  from states as s
  cross join lateral (
    select t.*
    from svc.lifecycle_transitions as t
    where t.environment_id = newest_transitions.environment_id
      and t.to_state = s.state
      and t.transition_seq < newest_transitions.before
    order by t.transition_seq desc
    limit newest_transitions.row_limit
  ) as l
  order by l.transition_seq desc
  limit newest_transitions.row_limit;
$$;

comment on function svc.newest_transitions(integer, text, bigint, integer) is
  'The last written lifecycle transitions of an environment, into one state or any.';
