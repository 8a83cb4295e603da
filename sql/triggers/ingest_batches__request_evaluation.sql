-- Every accepted ingest call asks for evaluation of its environment, in its own transaction.
-- Raises nothing, locks nothing.
create or replace function svc.tg_ingest_batches__request_evaluation()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
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
