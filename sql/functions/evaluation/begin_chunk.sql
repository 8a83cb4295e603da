-- Takes customers of an environment for evaluation and answers {now (ms), version, hash, settled, webhooks, transactionId, customers: […]}
-- with all that the engine needs, in the transaction that apply_evaluation ends. Where two others evaluate the environment, or calls are
-- under way whose operations are to be seen in a moment, it answers {busy: true, customers: []}; where it is suspected
-- {suspected: true, customers: []}: nobody is looked at then but in a trial (begin_trial). Of a frozen environment nobody is taken.
-- Raises nothing. Locks a slot of the environment, and what svc.take_customers locks.
create or replace function svc_api.begin_chunk(
  environment_id integer, customer_limit integer, operation_limit integer, settle interval, instant timestamptz
)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _slot constant smallint := svc.take_evaluation_slot(begin_chunk.environment_id);
begin
  if svc.is_frozen(begin_chunk.environment_id) then
    return json_build_object('customers', '[]'::json);
  end if;
  if _slot is null then
    return json_build_object('busy', true, 'customers', '[]'::json);
  end if;
  if exists (select from svc.suspect_environments as s where s.environment_id = begin_chunk.environment_id) then
    return json_build_object('suspected', true, 'customers', '[]'::json);
  end if;
  return svc.take_customers(
    begin_chunk.environment_id, _slot, begin_chunk.customer_limit, begin_chunk.operation_limit, begin_chunk.settle,
    begin_chunk.instant
  );
end;
$$;

comment on function svc_api.begin_chunk(integer, integer, integer, interval, timestamptz) is
  'Takes customers with waiting operations or due timers and answers all that the engine needs.';
