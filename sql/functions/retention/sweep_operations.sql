-- Removes operations of an environment that were accepted longer ago than its plan keeps them, in the order of acceptance, after a batch
-- (null: where the last sweep stopped, else after the batches that are all removed): {removed, through}. It reads batches until they
-- have `row_limit` operations together, so that no call takes long; through is the batch after which to continue, null if the sweep is
-- finished or another one is running.
-- Operations that wait for evaluation are kept, and so are events that occur within the days that are kept, and the batches of both. The
-- keys of removed events are kept for svc_api.sweep_keys to remove. Raises nothing. Locks the environment's row of svc.retention, then the
-- rows it deletes; skips those that an erasure holds, and waits for nothing, except an environment's first sweep for another first one.
create or replace function svc_api.sweep_operations(environment_id integer, after_batch bigint, row_limit integer)
returns json
language plpgsql
volatile
security definer
set search_path = ''
-- Force index scans, whatever the statistics say.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
-- Of the indexes that begin with the environment, an order by then leaves only the one that provides the order.
set enable_sort = off
as $$
declare
  _id constant integer := sweep_operations.environment_id;
  _now constant timestamptz := now();
  _before constant timestamptz := _now - svc.retention_days(_id) * interval '24 hours';
  _end constant json := json_build_object('removed', 0, 'through', null);
  _first_after bigint;
  _after bigint;
  _through bigint;
  _is_end boolean;
  _events integer;
  _trait_updates integer;
  _batch_events bigint;
  _seqs bigint[];
  _customers text[];
  _keys text[];
begin
  if _before is null then
    return _end;
  end if;
  select coalesce(r.next_after, r.swept_through) into _first_after
  from svc.retention as r
  where r.environment_id = _id
  for update skip locked;
  if not found then
    -- Do not wait for a row that another sweep holds, and add none to an environment that has accepted nothing: an import may be bringing
    -- its own.
    if exists (select 1 from svc.retention as r where r.environment_id = _id)
      or not exists (select 1 from svc.ingest_batches as b where b.environment_id = _id)
    then
      return _end;
    end if;
    insert into svc.retention (environment_id) values (_id) on conflict do nothing returning swept_through into _first_after;
    if not found then
      return _end;
    end if;
  end if;
  _after := coalesce(sweep_operations.after_batch, _first_after);

  -- At least one batch, however large. Numbers rise with the time of acceptance, except for concurrent calls.
  select
    max(p.batch_seq) filter (where p.is_old and p.fits),
    bool_and(p.fits or not p.is_old) and (count(*) < sweep_operations.row_limit or bool_or(not p.is_old))
  into _through, _is_end
  from (
    select
      b.batch_seq,
      b.accepted_at < _before as is_old,
      coalesce(sum(b.tracked + b.identified) over earlier, 0) < sweep_operations.row_limit as fits
    from (
      select k.batch_seq, k.accepted_at, k.tracked, k.identified
      from svc.ingest_batches as k
      where k.environment_id = _id and k.batch_seq > _after
      order by k.batch_seq
      limit sweep_operations.row_limit
    ) as b
    window earlier as (order by b.batch_seq rows between unbounded preceding and 1 preceding)
  ) as p;
  if _through is null then
    update svc.retention as r set next_after = null where r.environment_id = _id and r.next_after is not null;
    return _end;
  end if;

  -- A join by ctid is a look-up, even if a table was empty when its statistics were collected.
  with removed as (
    delete from svc.events as e
    using (
      select k.ctid
      from svc.events as k
      left join lateral (
        select true as waits
        from svc.inbox as i
        where i.environment_id = _id and i.customer_id = k.customer_id and i.seq = k.event_seq
        limit 1
      ) as i on true
      where k.environment_id = _id and k.event_seq >= (_after + 1) * 1024 and k.event_seq < (_through + 1) * 1024
        and k.accepted_at < _before and k.occurred_at < _before and i.waits is null
      order by k.event_seq
      for update of k skip locked
    ) as p
    where e.environment_id = _id and e.ctid = p.ctid
    returning e.event_seq, e.customer_id, e.idempotency_key
  )
  select count(*), array_agg(r.event_seq), array_agg(r.customer_id), array_agg(r.idempotency_key)
  into _events, _seqs, _customers, _keys
  from removed as r;

  with removed as (
    delete from svc.trait_updates as t
    using (
      select k.ctid
      from svc.trait_updates as k
      left join lateral (
        select true as waits
        from svc.inbox as i
        where i.environment_id = _id and i.customer_id = k.customer_id and i.seq = k.operation_seq
        limit 1
      ) as i on true
      where k.environment_id = _id and k.operation_seq >= (_after + 1) * 1024 and k.operation_seq < (_through + 1) * 1024
        and k.accepted_at < _before and i.waits is null
      order by k.operation_seq
      for update of k skip locked
    ) as p
    where t.environment_id = _id and t.ctid = p.ctid
    returning t.operation_seq, t.customer_id, t.idempotency_key
  )
  select
    count(*), _seqs || array_agg(r.operation_seq), _customers || array_agg(r.customer_id), _keys || array_agg(r.idempotency_key)
  into _trait_updates, _seqs, _customers, _keys
  from removed as r;

  insert into svc.retired_keys (environment_id, retired_at, event_seq, customer_id, idempotency_key)
  select h.environment_id, _now, o.event_seq, o.customer_id, o.idempotency_key
  from svc.homes as h
  cross join unnest(_seqs, _customers, _keys) as o (event_seq, customer_id, idempotency_key)
  where h.environment_id = _id and o.idempotency_key is not null;

  with removed as (
    delete from svc.ingest_batches as b
    using (
      select k.ctid
      from svc.ingest_batches as k
      left join lateral (
        select true as kept
        from svc.events as e
        where e.environment_id = _id
          and e.event_seq >= k.batch_seq * 1024 and e.event_seq < (k.batch_seq + 1) * 1024
        order by e.event_seq
        limit 1
      ) as e on true
      left join lateral (
        select true as kept
        from svc.trait_updates as t
        where t.environment_id = _id
          and t.operation_seq >= k.batch_seq * 1024 and t.operation_seq < (k.batch_seq + 1) * 1024
        order by t.operation_seq
        limit 1
      ) as t on true
      where k.environment_id = _id and k.batch_seq > _after and k.batch_seq <= _through
        and k.accepted_at < _before and e.kept is null and t.kept is null
    ) as p
    where b.environment_id = _id and b.ctid = p.ctid
    returning b.tracked
  )
  select coalesce(sum(r.tracked), 0) into _batch_events from removed as r;

  update svc.retention as r
  set
    -- Not beyond a batch that is kept for now, so that the next sweep finds it and does not scan what is gone.
    swept_through = case
      when r.swept_through = _after then coalesce(
        (
          select k.batch_seq - 1
          from svc.ingest_batches as k
          where k.environment_id = _id and k.batch_seq > _after and k.batch_seq <= _through
          order by k.batch_seq
          limit 1
        ),
        _through
      )
      else r.swept_through
    end,
    events_removed = r.events_removed + _events,
    trait_updates_removed = r.trait_updates_removed + _trait_updates,
    batch_events_removed = r.batch_events_removed + _batch_events,
    last_removed_at = case when _events + _trait_updates > 0 then _now else r.last_removed_at end,
    removed_through = greatest(r.removed_through, (select max(o.seq) from unnest(_seqs) as o (seq)) / 1024),
    next_after = case when not _is_end then _through end
  where r.environment_id = _id;
  return json_build_object('removed', _events + _trait_updates, 'through', case when not _is_end then _through end);
end;
$$;

comment on function svc_api.sweep_operations(integer, bigint, integer) is
  'Removes operations that are older than the plan keeps them, a limited number at once.';
