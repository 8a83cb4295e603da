-- Creates the two environments of a new project.
-- Raises nothing, locks nothing.
create or replace function svc.add_environments(project_id integer, out test_id integer, out live_id integer)
language plpgsql
volatile
set search_path = ''
as $$
begin
  with environment as (
    insert into svc.environments (project_id, name)
    values (add_environments.project_id, 'test'), (add_environments.project_id, 'live')
    returning environments.environment_id, environments.name
  )
  select
    max(e.environment_id) filter (where e.name = 'test'), max(e.environment_id) filter (where e.name = 'live')
  into add_environments.test_id, add_environments.live_id
  from environment as e;

  insert into svc.evaluation_slots (environment_id, slot)
  select e.environment_id, s.slot
  from unnest(array[add_environments.test_id, add_environments.live_id]) as e (environment_id)
  cross join generate_series(1, 2) as s (slot);
end;
$$;

comment on function svc.add_environments(integer) is 'Creates the two environments of a new project.';
