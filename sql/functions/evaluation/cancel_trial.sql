-- Records that a trial ended without a result, through no fault of the customers in it: the next one has the same size.
-- Raises nothing. Locks the environment's row of svc.suspect_environments.
create or replace function svc_api.cancel_trial(environment_id integer, worker_id text)
returns void
language sql
volatile
security definer
set search_path = ''
begin atomic
update svc.suspect_environments as s
set tried_by = null, customer_ids = null
where s.environment_id = cancel_trial.environment_id and s.tried_by = cancel_trial.worker_id;
end;

comment on function svc_api.cancel_trial(integer, text) is 'Records that a trial ended without a result.';
