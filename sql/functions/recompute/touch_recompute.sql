-- Answers how many customers of a job are done, null if the attempt is not the job's current one, and delivers the emissions that it has
-- written. Called after each chunk and every few seconds, which also keeps the connection that holds the job from counting as idle.
-- Raises nothing. Locks the job's row if there are emissions to deliver.
create or replace function svc_api.touch_recompute(environment_id integer, recompute_id text, attempt integer)
returns integer
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _done integer;
  _outbox_seq bigint;
begin
  select r.customers_done, r.outbox_seq into _done, _outbox_seq
  from svc.recomputes as r
  where r.environment_id = touch_recompute.environment_id and r.recompute_id = touch_recompute.recompute_id
    and r.attempt = touch_recompute.attempt and r.status = 'running';
  if _outbox_seq is not null then
    perform svc.flush_recompute_outbox(touch_recompute.environment_id, touch_recompute.recompute_id);
  end if;
  return _done;
end;
$$;

comment on function svc_api.touch_recompute(integer, text, integer) is 'How many customers are done, for a recompute''s current attempt.';
