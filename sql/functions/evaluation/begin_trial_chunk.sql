-- Like begin_chunk, for the trial of a suspected environment.
-- Raises nothing. Locks a slot of the environment, and what svc.take_customers locks.
create or replace function svc_api.begin_trial_chunk(
  environment_id integer, customer_limit integer, operation_limit integer, settle interval, instant timestamptz
)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _slot constant smallint := svc.take_evaluation_slot(begin_trial_chunk.environment_id);
begin
  if svc.is_frozen(begin_trial_chunk.environment_id) then
    return json_build_object('customers', '[]'::json);
  end if;
  if _slot is null then
    return json_build_object('busy', true, 'customers', '[]'::json);
  end if;
  return svc.take_customers(
    begin_trial_chunk.environment_id, _slot, begin_trial_chunk.customer_limit, begin_trial_chunk.operation_limit,
    begin_trial_chunk.settle, begin_trial_chunk.instant
  );
end;
$$;

comment on function svc_api.begin_trial_chunk(integer, integer, integer, interval, timestamptz) is
  'Takes customers for the trial of a suspected environment.';
