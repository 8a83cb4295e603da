-- Answers how many customers of a job are done, null where the attempt is not the job's present one, and tells of the emissions that it has
-- written. Asked after each chunk and every few seconds, which also keeps the connection that holds the job from being taken for idle.
-- Raises nothing. Locks the job's row where there is something to tell of.
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

comment on function svc_api.touch_recompute(integer, text, integer) is 'How many customers are done, for a recompute''s present attempt.';
