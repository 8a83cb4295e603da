-- Takes customers of an environment for evaluation and answers {now (ms), version, hash, settled, webhooks, transactionId, customers: […]}
-- with all that the engine needs, in the transaction that apply_evaluation ends. If two others evaluate the environment, or operations of
-- calls in progress are about to become visible, it answers {busy: true, customers: []}; if the environment is suspected
-- {suspected: true, customers: []}, because then only trials evaluate (begin_trial). From a frozen environment it takes no customers.
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
