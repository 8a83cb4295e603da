-- Delivers the emissions that a job has written so far. The transaction is on disk when its commit answers, whatever the session's setting:
-- before that, no receiver may learn of what a crash could undo.
-- Raises nothing. Locks the job's row.
create or replace function svc.flush_recompute_outbox(environment_id integer, recompute_id text)
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  _seq bigint;
  _emissions integer;
begin
  select r.outbox_seq, r.outbox_emissions into _seq, _emissions
  from svc.recomputes as r
  where r.environment_id = flush_recompute_outbox.environment_id and r.recompute_id = flush_recompute_outbox.recompute_id
  for update;
  if _seq is null then
    return;
  end if;

  perform set_config('synchronous_commit', 'on', true);
  insert into svc.emission_batches (environment_id, evaluation_seq, emissions)
  values (flush_recompute_outbox.environment_id, _seq, _emissions);
  perform svc.fan_out(flush_recompute_outbox.environment_id, array[_seq]);
  update svc.recomputes as r
  set outbox_seq = null, outbox_emissions = 0
  where r.environment_id = flush_recompute_outbox.environment_id and r.recompute_id = flush_recompute_outbox.recompute_id;
end;
$$;

comment on function svc.flush_recompute_outbox(integer, text) is 'Delivers the emissions that a recompute has written so far.';
