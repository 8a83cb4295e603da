-- The part that begin_chunk and begin_trial_chunk share once they hold a slot: takes customers with the oldest waiting operations, three of
-- what happens now for one of what is late, then those with due timers, who have up to a quarter of the places; and answers
-- svc.evaluation_input of them. instant is the time to evaluate at: null for now.
-- Raises nothing. Locks the customers' rows, skipping those that another worker holds: that worker searches the inbox once more after it
-- commits, or the tick does if a recompute held them. Only the holder of the first slot inserts new customers, so that workers do not wait
-- for each other. The operations are read in a later statement than the lock, so whatever was committed meanwhile is seen.
create or replace function svc.take_customers(
  environment_id integer, slot smallint, customer_limit integer, operation_limit integer, settle interval, instant timestamptz
)
returns json
language plpgsql
volatile
set search_path = ''
-- Force look-ups by key, whatever the statistics say: they lag behind a backfill. That is also why rows are looked up laterally with a
-- limit.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  _now timestamptz;
  _settled boolean;
  _waiting text[];
  _places integer;
  _read bigint;
  _limit bigint := least(take_customers.customer_limit * 2, take_customers.operation_limit);
  _locked text[] := '{}';
  _new text[];
  _due text[];
  _set_aside text[];
begin
  loop
    -- Enough for two chunks, because the holder of the other slot may hold the first. Usually that many rows have that many customers.
    select array_agg(w.customer_id order by w.place), max(w.rows_read) into _waiting, _read
    from (
      select r.customer_id, min(r.place) as place, max(max(r.n)) over () as rows_read
      from (
        select i.customer_id, i.n, case when o.late then 6 * i.n + 1 else 2 * i.n end as place
        from (values (false), (true)) as o (late)
        cross join lateral (
          select k.customer_id, row_number() over (order by k.seq) as n
          from svc.inbox as k
          where k.environment_id = take_customers.environment_id and k.late = o.late and k.not_before is null
          order by k.seq
          limit _limit
        ) as i
      ) as r
      group by r.customer_id
      order by place
      limit take_customers.customer_limit * 2
    ) as w;
    exit when _waiting is null;
    if _read = _limit and _limit < take_customers.operation_limit and cardinality(_waiting) < take_customers.customer_limit * 2 then
      _limit := take_customers.operation_limit;
      continue;
    end if;
    _places := take_customers.customer_limit;
    if cardinality(_waiting) > _places - _places / 4 then
      -- As if unsettled, because late events may still be accepted before the timers are read.
      _places := _places - cardinality(array(
        select svc.due_customers(
          take_customers.environment_id, coalesce(take_customers.instant, clock_timestamp()), false, _places / 4
        )
        limit _places / 4
      ));
    end if;

    select
      coalesce(array_agg(l.customer_id) filter (where l.locked and l.set_aside_at is null), '{}'),
      array_agg(l.customer_id) filter (where not l.locked),
      array_agg(l.customer_id) filter (where l.set_aside_at is not null)
    into _locked, _new, _set_aside
    from (
      select w.customer_id, c.customer_id is not null as locked, c.set_aside_at
      from (select u.customer_id from unnest(_waiting) with ordinality as u (customer_id, n) order by u.n) as w
      left join lateral (
        select k.customer_id, k.set_aside_at
        from svc.customers as k
        where k.environment_id = take_customers.environment_id and k.customer_id = w.customer_id
        limit 1
        for update skip locked
      ) as c on true
      left join lateral (
        select true as known
        from svc.customers as k
        where k.environment_id = take_customers.environment_id and k.customer_id = w.customer_id and c.customer_id is null
        limit 1
      ) as o on true
      where c.customer_id is not null or take_customers.slot = 1 and o.known is null
      limit _places
    ) as l;

    if _new is not null then
      -- This transaction holds what it inserts.
      _locked := _locked || array(select svc.insert_new_customers(take_customers.environment_id, _new));
    end if;

    if _set_aside is not null then
      -- Keep their operations from being read until they are released.
      update svc.inbox as i
      set not_before = 'infinity'
      where i.environment_id = take_customers.environment_id and i.customer_id = any(_set_aside) and i.not_before is null;
    end if;

    exit when _locked <> '{}' or take_customers.slot = 2;
    -- Others may wait behind set-aside customers, or behind one with more waiting operations than were read that a recompute holds for
    -- long.
    if _set_aside is null then
      exit when _read < _limit;
      _limit := _limit * 8;
    end if;
  end loop;

  -- Not earlier: inserting may have waited for an erasure.
  _now := coalesce(take_customers.instant, date_trunc('milliseconds', clock_timestamp()));

  -- While late events come in, the timers of the customers they belong to wait.
  _settled := not exists (
    select 1
    from svc.ingest_batches as b
    where b.environment_id = take_customers.environment_id and b.late
      and b.accepted_at > _now - take_customers.settle and b.accepted_at < now() + interval '1 minute'
  );

  if cardinality(_locked) < take_customers.customer_limit then
    _due := array(
      select u.customer_id
      from svc.due_customers(
        take_customers.environment_id, _now, _settled, take_customers.customer_limit - cardinality(_locked)
      ) as u (customer_id)
      where u.customer_id <> all(_locked)
      limit take_customers.customer_limit - cardinality(_locked)
    );
    select array_agg(c.customer_id) into _due
    from unnest(_due) as w (customer_id)
    cross join lateral (
      select k.customer_id
      from svc.customers as k
      where k.environment_id = take_customers.environment_id
        and k.customer_id = w.customer_id
        -- Check the locked row again: another worker may just have evaluated it.
        and k.next_due_at <= _now
        and k.set_aside_at is null
      limit 1
      for update skip locked
    ) as c;
  end if;

  _locked := _locked || coalesce(_due, '{}');
  -- Waiting customers may be new, and the holder of the first slot may have searched before they came.
  if _locked = '{}' and (
    _waiting is not null and take_customers.slot = 2
    or _waiting is null and svc.may_have_missed_operations(take_customers.environment_id)
  ) then
    return json_build_object('busy', true, 'customers', '[]'::json);
  end if;
  return svc.evaluation_input(
    take_customers.environment_id,
    _locked,
    -- Shared out, so that no chunk is large and none reads more than it takes.
    greatest(1, take_customers.operation_limit / greatest(1, cardinality(_locked))),
    _now,
    _settled
  );
end;
$$;

comment on function svc.take_customers(integer, smallint, integer, integer, interval, timestamptz) is
  'Takes customers with waiting operations or due timers and answers all that the engine needs.';
