-- Records that a trial succeeded: the next chunk is larger; if this one had the usual size, the environment is no longer suspected.
-- Raises nothing. Locks the environment's row of svc.suspect_environments.
create or replace function svc_api.end_trial(environment_id integer, worker_id text, customer_limit integer, operation_limit integer)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  delete from svc.suspect_environments as s
  where s.environment_id = end_trial.environment_id and s.tried_by = end_trial.worker_id
    and s.customer_limit >= end_trial.customer_limit and s.operation_limit >= end_trial.operation_limit;

  update svc.suspect_environments as s
  set
    customer_limit = least(end_trial.customer_limit, s.customer_limit * 8),
    operation_limit = least(end_trial.operation_limit, s.operation_limit * 8),
    tried_by = null,
    customer_ids = null,
    failures = 0
  where s.environment_id = end_trial.environment_id and s.tried_by = end_trial.worker_id;
end;
$$;

comment on function svc_api.end_trial(integer, text, integer, integer) is 'Records that a trial succeeded.';
