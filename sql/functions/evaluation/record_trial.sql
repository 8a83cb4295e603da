-- Records the customers in the chunk of a trial, before they are evaluated; or, for a trial that failed, the reason.
-- Raises nothing. Locks the environment's row of svc.suspect_environments.
create or replace function svc_api.record_trial(environment_id integer, worker_id text, customer_ids text[], reason text)
returns void
language sql
volatile
security definer
set search_path = ''
begin atomic
update svc.suspect_environments as s
set
  customer_ids = coalesce(record_trial.customer_ids, s.customer_ids),
  reason = coalesce(left(record_trial.reason, 2000), s.reason)
where s.environment_id = record_trial.environment_id and s.tried_by = record_trial.worker_id;
end;

comment on function svc_api.record_trial(integer, text, text[], text) is 'Records the customers in the chunk of a trial, or why it failed.';
