-- As svc_api.claim_job without backtests, for processes of a version before it; they may run beside the present ones for a while.
-- Raises and locks as svc.take_recompute.
create or replace function svc_api.claim_recompute(attempts_max integer)
returns json
language sql
volatile
security definer
set search_path = ''
return svc.take_recompute(claim_recompute.attempts_max, array[1, 2]);

comment on function svc_api.claim_recompute(integer) is
  'Takes a recompute, dry run or preview that nobody runs, and holds it for the session.';
