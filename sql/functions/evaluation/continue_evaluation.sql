-- Queues what follows a turn: the turns for work that it left, none, one, or two in parallel. They come behind all environments with little
-- work, and at most one second turn is queued. Without any, the environment is only looked at again.
-- Raises nothing. Locks the queued second turn.
create or replace function svc_api.continue_evaluation(environment_id integer, turns integer)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _environments constant integer[] := array[continue_evaluation.environment_id];
begin
  if continue_evaluation.turns = 0 then
    -- Not svc.request_evaluation, to which a failed job that is tried again within seconds is enough.
    perform svc.add_evaluations(_environments, 1);
    return;
  end if;
  perform svc.add_evaluations(_environments, 10);
  if continue_evaluation.turns > 1 then
    perform svc.add_evaluations(_environments, 10, svc.evaluation_key(p.organization_id, e.environment_id, 0))
    from svc.environments as e
    join svc.projects as p on p.project_id = e.project_id
    where e.environment_id = continue_evaluation.environment_id;
  end if;
end;
$$;

comment on function svc_api.continue_evaluation(integer, integer) is 'Queues what follows a turn of an environment.';
