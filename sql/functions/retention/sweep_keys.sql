-- Removes idempotency keys of an environment whose events were removed at least 90 days ago, at most `row_limit` at once; answers how
-- many. Call it again until it answers 0. An event sent later with such a key is a new one.
-- Raises nothing. Locks the environment's row of svc.retention, then the rows it deletes; skips those that an erasure holds. An
-- ingest call that uses one of the keys at that moment waits for the end of the transaction.
create or replace function svc_api.sweep_keys(environment_id integer, row_limit integer)
returns integer
language plpgsql
volatile
security definer
set search_path = ''
-- Force index scans, whatever the statistics say.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  _id constant integer := sweep_keys.environment_id;
  _before constant timestamptz := now() - 90 * interval '24 hours';
  _from timestamptz;
  _rows integer;
begin
  select r.keys_swept_through into _from from svc.retention as r where r.environment_id = _id for update skip locked;
  if not found then
    return 0;
  end if;
  -- From before the clock was set back; since then keys were retired earlier. Corrected at once: when these are old enough, it has passed.
  if _from > now() then
    _from := '-infinity';
    update svc.retention as r set keys_swept_through = _from where r.environment_id = _id;
  end if;

  with retired as (
    delete from svc.retired_keys as k
    where k.environment_id = _id and k.ctid = any(array(
      select o.ctid
      from svc.retired_keys as o
      where o.environment_id = _id and o.retired_at >= _from and o.retired_at < _before
      order by o.retired_at, o.event_seq
      limit sweep_keys.row_limit
      for update skip locked
    ))
    returning k.event_seq, k.idempotency_key
  ),
  removed as (
    delete from svc.idempotency_keys as k
    where k.environment_id = _id and k.ctid = any(array(
      select p.ctid
      from retired as r
      cross join lateral (
        select i.ctid
        from svc.idempotency_keys as i
        where i.environment_id = _id and i.idempotency_key = r.idempotency_key and i.event_seq = r.event_seq
        limit 1
      ) as p
    ))
  )
  select count(*) into _rows from retired;

  if _rows > 0 then
    update svc.retention as r
    set keys_swept_through = coalesce(
      (select min(k.retired_at) from svc.retired_keys as k where k.environment_id = _id and k.retired_at >= _from), _from
    )
    where r.environment_id = _id;
  end if;
  return _rows;
end;
$$;

comment on function svc_api.sweep_keys(integer, integer) is
  'Removes idempotency keys of events that were removed 90 days ago, a limited number at once.';
