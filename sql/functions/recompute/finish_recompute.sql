-- Ends a job whose customers are all done.
-- Raises SV011 RECOMPUTE_TAKEN_OVER if the attempt is not the job's current one. Locks the job's row.
create or replace function svc_api.finish_recompute(environment_id integer, recompute_id text, attempt integer)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  perform svc.flush_recompute_outbox(finish_recompute.environment_id, finish_recompute.recompute_id);
  update svc.recomputes as r
  set
    status = 'completed',
    finished_at = now(),
    error = null,
    last_customer_id = null,
    -- The model of a preview or backtest is large and no longer needed.
    snapshot = case when r.snapshot is not null then '{}'::json end,
    -- Some customers were erased since they were counted; others were not yet visible then.
    customers_total = r.customers_done
  where r.environment_id = finish_recompute.environment_id and r.recompute_id = finish_recompute.recompute_id
    and r.attempt = finish_recompute.attempt and r.status = 'running';
  if not found then
    raise exception using errcode = 'SV011', message = 'RECOMPUTE_TAKEN_OVER';
  end if;
  perform set_config('synchronous_commit', 'on', true);
end;
$$;

comment on function svc_api.finish_recompute(integer, text, integer) is 'Ends a recompute whose customers are all done.';
