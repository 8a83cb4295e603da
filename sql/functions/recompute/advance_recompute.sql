-- Adds to a job's progress: `done` more customers are done, up to last_customer_id (null: as before), and `counts` is added to the result:
-- {customersChanged, lifecycleChanged, healthChanged, segmentsEntered, segmentsExited, rules, rulesRemoved,
-- emissions}, null for nothing.
-- Raises SV011 RECOMPUTE_TAKEN_OVER if the attempt is not the job's current one. Locks the job's row.
create or replace function svc.advance_recompute(
  environment_id integer, recompute_id text, attempt integer, last_customer_id text, done integer, counts json
)
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  _n record;
begin
  select n.* into _n
  from json_to_record(coalesce(advance_recompute.counts, '{}')) as n (
    "customersChanged" integer, "lifecycleChanged" integer, "healthChanged" integer, "segmentsEntered" integer, "segmentsExited" integer,
    rules bigint, "rulesRemoved" bigint, emissions bigint
  );
  update svc.recomputes as r
  set
    customers_done = r.customers_done + advance_recompute.done,
    last_customer_id = coalesce(advance_recompute.last_customer_id, r.last_customer_id),
    customers_changed = r.customers_changed + coalesce(_n."customersChanged", 0),
    lifecycle_changed = r.lifecycle_changed + coalesce(_n."lifecycleChanged", 0),
    health_changed = r.health_changed + coalesce(_n."healthChanged", 0),
    segments_entered = r.segments_entered + coalesce(_n."segmentsEntered", 0),
    segments_exited = r.segments_exited + coalesce(_n."segmentsExited", 0),
    rules_added = r.rules_added + coalesce(_n.rules, 0),
    rules_removed = r.rules_removed + coalesce(_n."rulesRemoved", 0),
    emissions_added = r.emissions_added + coalesce(_n.emissions, 0)
  where r.environment_id = advance_recompute.environment_id and r.recompute_id = advance_recompute.recompute_id
    and r.attempt = advance_recompute.attempt and r.status = 'running';
  if not found then
    raise exception using errcode = 'SV011', message = 'RECOMPUTE_TAKEN_OVER';
  end if;
end;
$$;

comment on function svc.advance_recompute(integer, text, integer, text, integer, json) is
  'Records that more customers of a recompute are done.';
