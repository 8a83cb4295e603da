-- Waits for the first attempt of a call to end, for at most three seconds, because any login of the database can take its lock, too. An
-- attempt that takes longer holds the batch_id in svc.ingest_batches and its idempotency keys, so the repeated call still stores nothing
-- twice.
-- Raises nothing. Locks the batch_id (advisory) until the end of the transaction, if it gets it.
create or replace function svc.await_first_try(batch_id uuid)
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  _patience constant text := current_setting('lock_timeout');
begin
  perform set_config('lock_timeout', '3s', true);
  perform pg_advisory_xact_lock(uuid_hash_extended(await_first_try.batch_id, 0));
  perform set_config('lock_timeout', _patience, true);
exception
  -- Entering the handler restores lock_timeout, too.
  when lock_not_available then
    null;
end;
$$;

comment on function svc.await_first_try(uuid) is 'Waits for the first attempt of a call to end, for at most three seconds.';
