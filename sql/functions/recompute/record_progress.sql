-- Adds to a job's progress: `done` more customers are done, up to last_customer_id (null: as before), and `counts` is added to the result:
-- {customersChanged, lifecycleChanged, healthChanged, segmentsEntered, segmentsExited, signalsRaised, signalsCleared, rules, rulesRemoved,
-- emissions}, null for nothing.
-- Answers the number of the first of `emissions` new ones, at most 65,536, null if none. They are numbered within the job's outbox, which
-- is kept in its row until svc.flush_recompute_outbox delivers them, because an outbox row and a commit on disk for each customer would
-- cost more than all the rest. One update for both: the row is wide, and written for each customer.
-- Raises SV011 RECOMPUTE_TAKEN_OVER if the attempt is not the job's current one. Locks the job's row.
create or replace function svc.record_progress(
  environment_id integer, recompute_id text, attempt integer, last_customer_id text, done integer, counts json, emissions integer
)
returns bigint
language plpgsql
volatile
set search_path = ''
as $$
declare
  -- Positions in an outbox row are 16 bits wide.
  _size constant integer := 65536;
  _id constant integer := record_progress.environment_id;
  _n record;
  _seq bigint;
  _used integer;
begin
  select n.* into _n
  from json_to_record(coalesce(record_progress.counts, '{}')) as n (
    "customersChanged" integer, "lifecycleChanged" integer, "healthChanged" integer, "segmentsEntered" integer, "segmentsExited" integer,
    "signalsRaised" integer, "signalsCleared" integer, rules bigint, "rulesRemoved" bigint, emissions bigint
  );
  update svc.recomputes as r
  set
    customers_done = r.customers_done + record_progress.done,
    last_customer_id = coalesce(record_progress.last_customer_id, r.last_customer_id),
    customers_changed = r.customers_changed + coalesce(_n."customersChanged", 0),
    lifecycle_changed = r.lifecycle_changed + coalesce(_n."lifecycleChanged", 0),
    health_changed = r.health_changed + coalesce(_n."healthChanged", 0),
    segments_entered = r.segments_entered + coalesce(_n."segmentsEntered", 0),
    segments_exited = r.segments_exited + coalesce(_n."segmentsExited", 0),
    signals_raised = r.signals_raised + coalesce(_n."signalsRaised", 0),
    signals_cleared = r.signals_cleared + coalesce(_n."signalsCleared", 0),
    rules_added = r.rules_added + coalesce(_n.rules, 0),
    rules_removed = r.rules_removed + coalesce(_n."rulesRemoved", 0),
    emissions_added = r.emissions_added + coalesce(_n.emissions, 0),
    outbox_emissions = r.outbox_emissions + record_progress.emissions
  where r.environment_id = _id and r.recompute_id = record_progress.recompute_id and r.attempt = record_progress.attempt
    and r.status = 'running'
  returning r.outbox_seq, r.outbox_emissions into _seq, _used;
  if not found then
    raise exception using errcode = 'SV011', message = 'RECOMPUTE_TAKEN_OVER';
  end if;
  if record_progress.emissions = 0 then
    return null;
  end if;

  if _used > _size then
    update svc.recomputes as r
    set outbox_emissions = _used - record_progress.emissions
    where r.environment_id = _id and r.recompute_id = record_progress.recompute_id;
    perform svc.flush_recompute_outbox(_id, record_progress.recompute_id);
    _seq := null;
    _used := record_progress.emissions;
  end if;
  if _seq is null then
    _seq := nextval(svc.evaluation_seq(_id));
    update svc.recomputes as r
    set outbox_seq = _seq, outbox_emissions = _used
    where r.environment_id = _id and r.recompute_id = record_progress.recompute_id;
  end if;
  return _seq * _size + _used - record_progress.emissions;
end;
$$;

comment on function svc.record_progress(integer, text, integer, text, integer, json, integer) is
  'Records that more customers of a recompute are done, and numbers their emissions.';
