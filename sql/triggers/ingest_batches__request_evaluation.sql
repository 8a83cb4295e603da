-- Every accepted ingest call asks for evaluation of its environment, in its own transaction.
-- While a database is upgraded from 000003, a call that began before may come here with a number of the sequence that all shared, below
-- what followers of the events have passed: it is refused, and the process that made it makes it again. That part goes with the sequence.
-- Raises serialization failure (40001) then. Locks nothing.
create or replace function svc.tg_ingest_batches__request_evaluation()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  if to_regclass('svc.batch_seq') is not null and exists (
    select
    from new_batches as n
    join pg_catalog.pg_sequence as q on q.seqrelid = svc.batch_seq(n.environment_id)
    where n.batch_seq <= q.seqstart
  ) then
    raise exception using errcode = '40001', message = 'The call began before the environment had numbers of its own; call again.';
  end if;
  perform svc.request_evaluation(array(select distinct n.environment_id from new_batches as n));
  return null;
end;
$$;

comment on function svc.tg_ingest_batches__request_evaluation() is 'Asks for evaluation of the environments of new ingest batches.';

create or replace trigger _500_request_evaluation
after insert on svc.ingest_batches
referencing new table as new_batches
for each statement
execute function svc.tg_ingest_batches__request_evaluation();

comment on trigger _500_request_evaluation on svc.ingest_batches is 'Asks for evaluation once the call is committed.';
