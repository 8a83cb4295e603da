-- Asks for an evaluation of an environment in a tenth of a second, by the database's clock: others are at it.
-- Raises nothing, locks nothing.
create or replace function svc_api.postpone_evaluation(environment_id integer)
returns void
language sql
volatile
security definer
set search_path = ''
as $$
  select graphile_worker.add_job(
    'evaluate',
    json_build_object('environmentId', postpone_evaluation.environment_id),
    run_at => now() + interval '100 milliseconds',
    max_attempts => 25,
    job_key => 'evaluate:' || postpone_evaluation.environment_id,
    job_key_mode => 'preserve_run_at'
  );
$$;

comment on function svc_api.postpone_evaluation(integer) is 'Asks for an evaluation of an environment in a moment.';
