-- Begins a trial of a suspected environment: a chunk with limited numbers of customers and operations, recorded and committed before it
-- runs, so that it is known which one crashed the worker. Answers {customers, operations, suspended}: the limits, and the customer that was
-- just set aside, if any. Answers null if another worker runs a trial of it or it is no longer suspected.
-- If the previous trial never ended, this one is smaller, down to one operation of one customer; if that fails twice more, the customer
-- is set aside with the reason.
-- Raises nothing. Locks the environment's row of svc.suspect_environments without waiting; what svc_api.set_aside_customer locks.
create or replace function svc_api.begin_trial(environment_id integer, worker_id text, customer_limit integer, operation_limit integer)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _suspect svc.suspect_environments;
  _suspended text;
begin
  select * into _suspect
  from svc.suspect_environments as s
  where s.environment_id = begin_trial.environment_id
  for update skip locked;
  if not found then
    return null;
  end if;
  if _suspect.tried_by <> begin_trial.worker_id and exists (
    select from svc.workers as w where w.worker_id = _suspect.tried_by and svc.is_alive(w.seen_at)
  ) then
    return null;
  end if;

  _suspect.customer_limit := coalesce(_suspect.customer_limit, begin_trial.customer_limit);
  _suspect.operation_limit := coalesce(_suspect.operation_limit, begin_trial.operation_limit);
  if _suspect.tried_by is not null then
    if _suspect.customer_limit > 1 or _suspect.operation_limit > 1 then
      _suspect.customer_limit := greatest(1, _suspect.customer_limit / 8);
      _suspect.operation_limit := greatest(1, _suspect.operation_limit / 8);
    elsif _suspect.failures < 2 then
      _suspect.failures := _suspect.failures + 1;
    else
      -- If the worker ended before the customers were recorded, the one that svc.take_customers finds first was in the chunk.
      _suspended := coalesce(_suspect.customer_ids[1], (
        select i.customer_id
        from svc.inbox as i
        where i.environment_id = begin_trial.environment_id and i.not_before is null
        order by i.late, i.seq
        limit 1
      ));
      if _suspended is not null then
        perform svc_api.set_aside_customer(begin_trial.environment_id, _suspended, _suspect.reason);
      end if;
      _suspect.customer_limit := begin_trial.customer_limit;
      _suspect.operation_limit := begin_trial.operation_limit;
      _suspect.failures := 0;
    end if;
  end if;

  update svc.suspect_environments as s
  set
    customer_limit = _suspect.customer_limit,
    operation_limit = _suspect.operation_limit,
    failures = _suspect.failures,
    tried_by = begin_trial.worker_id,
    customer_ids = null
  where s.environment_id = begin_trial.environment_id;
  return json_build_object(
    'customers', _suspect.customer_limit, 'operations', _suspect.operation_limit, 'suspended', _suspended
  );
end;
$$;

comment on function svc_api.begin_trial(integer, text, integer, integer) is
  'Records a chunk of an evaluation that may crash its worker, before it is tried.';
