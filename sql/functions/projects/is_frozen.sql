-- Whether an environment is frozen: it accepts, evaluates and delivers nothing, because it moves to another database.
-- Raises nothing, locks nothing.
create or replace function svc.is_frozen(environment_id integer)
returns boolean
language sql
stable
set search_path = ''
as $$
  select exists (
    select from svc.environments as e where e.environment_id = is_frozen.environment_id and e.frozen_at is not null
  )
$$;

comment on function svc.is_frozen(integer) is 'Whether an environment is frozen.';
