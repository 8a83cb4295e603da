-- Records that an evaluation of an environment ended without an outcome, so that the next ones are trials (begin_trial).
-- Raises nothing. Locks the environment's row of svc.suspect_environments.
create or replace function svc_api.suspect_environment(environment_id integer, reason text)
returns void
language sql
volatile
security definer
set search_path = ''
begin atomic
insert into svc.suspect_environments (environment_id, reason)
values (suspect_environment.environment_id, left(suspect_environment.reason, 2000))
on conflict do nothing;
end;

comment on function svc_api.suspect_environment(integer, text) is 'Makes the next evaluations of an environment trials.';
