-- Takes a recompute, a dry run, a preview or a backtest that nobody runs, as svc.take_recompute answers it.
-- Raises and locks as svc.take_recompute.
create or replace function svc_api.claim_job(attempts_max integer)
returns json
language sql
volatile
security definer
set search_path = ''
return svc.take_recompute(claim_job.attempts_max, array[1, 2, 3]);

comment on function svc_api.claim_job(integer) is 'Takes a job that nobody runs, and holds it for the session.';
