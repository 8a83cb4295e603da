-- Writes the results of a dry run, a preview or a backtest for some customers, with its progress: differences is [{customerId, weight,
-- difference}], counts is what svc.record_progress takes.
-- Raises SV011 RECOMPUTE_TAKEN_OVER if the attempt is not the job's current one. Locks the customers
-- against erasure, then the job's row.
create or replace function svc_api.record_recompute_chunk(
  environment_id integer, recompute_id text, attempt integer, last_customer_id text, done integer, differences json, counts json
)
returns void
language plpgsql
volatile
security definer
set search_path = ''
-- Force look-ups by key, whatever the statistics say, as in begin_chunk.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  _id constant integer := record_recompute_chunk.environment_id;
  _customer_ids text[];
  _weights real[];
  _differences json[];
  _there text[];
  _last text;
begin
  -- Parsed only once: samples of a backtest are long.
  select array_agg(r."customerId"), array_agg(r.weight), array_agg(r.difference)
  into _customer_ids, _weights, _differences
  from json_to_recordset(record_recompute_chunk.differences) as r ("customerId" text, weight real, difference json);
  -- Customers are locked first, as everywhere. Nothing is stored of one that was erased meanwhile.
  select array_agg(l.customer_id) into _there
  from (
    select k.customer_id
    from unnest(_customer_ids) as r (customer_id)
    join svc.customers as k on k.environment_id = _id and k.customer_id = r.customer_id
    order by k.customer_id
    for key share of k
  ) as l;
  select k.customer_id into _last
  from svc.customers as k
  where k.environment_id = _id and k.customer_id <= record_recompute_chunk.last_customer_id
  order by k.customer_id desc
  limit 1
  for key share;

  perform svc.record_progress(
    _id, record_recompute_chunk.recompute_id, record_recompute_chunk.attempt, _last, record_recompute_chunk.done,
    record_recompute_chunk.counts, 0
  );
  insert into svc.recompute_customers (environment_id, recompute_id, customer_id, weight, difference)
  select h.environment_id, record_recompute_chunk.recompute_id, r.customer_id, r.weight, r.difference
  from svc.homes as h
  cross join unnest(_customer_ids, _weights, _differences) as r (customer_id, weight, difference)
  where h.environment_id = _id and r.customer_id = any(_there);
end;
$$;

comment on function svc_api.record_recompute_chunk(integer, text, integer, text, integer, json, json) is
  'Writes the results of a dry run, a preview or a backtest for some customers.';
