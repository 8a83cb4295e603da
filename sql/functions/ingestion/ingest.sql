-- Accepts one call of operations, all or nothing: a batch ({"events": […]}), or with single = true an array of at most 1,000 single events
-- that were sent separately, each with its own outcome. The caller has checked the shape. batch_id is chosen before the first attempt; with
-- repeated = true, the outcome of an earlier attempt that was accepted is answered. Violations of a strict schema: refused or quarantined.
-- Raises SV001 INVALID_API_KEY, SV002 PLAN_REQUIRED, SV012 (frozen), SV008 RATE_LIMIT_EXCEEDED; for a batch also SV007 (schema), SV009
-- MONTHLY_QUOTA_EXCEEDED and SV005 IDEMPOTENCY_CONFLICT (with single = true these three, and a rate limit reached midway, are outcomes of
-- the events concerned); serialization failure (40001) if a key is being erased with its customer.
-- Locks its batch_id and its environment (advisory; waits for neither long, as any login can take them); on violations its version or the
-- row of svc.quarantines; and, last and as briefly as possible, the key's usage; no customer row.
create or replace function svc_api.ingest(key_hash bytea, batch_id uuid, body text, single boolean, repeated boolean default false)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _now constant timestamptz := date_trunc('milliseconds', clock_timestamp());
  _late_before constant timestamptz := _now - svc.punctual();
  _month constant date := svc.month_of(_now);
  _key record;
  _tokens double precision;
  _month_events bigint;
  _operations jsonb;
  _numbers regclass;
  _batch_seq bigint;
  _marker bigint;
  _first_seq bigint;
  _count integer;
  _request_size integer;
  _taken integer;
  _keyed integer;
  _inserted integer;
  _erased boolean;
  _tracked integer;
  _identified integer;
  _late boolean;
  _late_identifies boolean;
  _customers text[];
  _events text[];
  _properties jsonb[];
  _explicit timestamptz[];
  _keys text[];
  _hashes bigint[];
  _identify boolean[];
  _suspects bigint[];
  _violations jsonb;
  _warnings jsonb;
  -- Operations to quarantine: the reason by position; and those of them that do not fit.
  _held jsonb;
  _over_quarantine jsonb;
  -- Each call of the tracking API has its own outcome; calls that their sender would lose if refused are all quarantined. The body states
  -- the size of the request, of which this may be a part, and 0 if an earlier part was accepted: the rate limit applies once, to the whole
  -- request.
  _calls constant boolean := starts_with(ingest.body, '{"calls":');
  -- Per operation: whether it is new in quarantine.
  _kept boolean[];
  -- Per operation: the event number to answer, whether it stores anything, and why it was refused.
  _seqs bigint[];
  _fresh boolean[];
  _failures jsonb := '{}';
  _failure jsonb;
  _over_quota bigint[];
  _outcome json;
begin
  -- A call that is repeated because its connection was lost may find the first attempt still running. It waits, so that it sees either all
  -- of it or nothing.
  if ingest.repeated then
    perform svc.await_first_try(ingest.batch_id);
  else
    perform pg_try_advisory_xact_lock(uuid_hash_extended(ingest.batch_id, 0));
  end if;

  select
    k.environment_id, e.project_id, j.organization_id, e.active_version, e.frozen_at, v.strict_schema, v.on_violation,
    p.cloud_execution, p.rate_per_second, p.rate_burst, p.monthly_events, u.tokens, u.refilled_at
  into _key
  from svc.api_keys as k
  join svc.environments as e on e.environment_id = k.environment_id
  join svc.projects as j on j.project_id = e.project_id
  join iam.organizations as o on o.organization_id = j.organization_id
  join iam.plans as p on p.plan_id = o.plan_id
  join svc.key_usage as u on u.key_hash = k.key_hash
  left join svc.config_versions as v on v.project_id = e.project_id and v.version = e.active_version
  where k.key_hash = ingest.key_hash
    and (k.revoked_at is null or k.revoked_at > _now);
  if not found then
    raise exception using errcode = 'SV001', message = 'INVALID_API_KEY';
  end if;
  if not _key.cloud_execution then
    raise exception using errcode = 'SV002', message = 'PLAN_REQUIRED';
  end if;

  _operations := case when ingest.single then ingest.body::jsonb else ingest.body::jsonb -> 'events' end;
  _count := jsonb_array_length(_operations);

  -- The bucket was read without a lock, so that an over-limit call is refused cheaply. The last statement updates it.
  _tokens := svc.rate_tokens(_key.tokens, _key.refilled_at, _now, _key.rate_per_second, _key.rate_burst);

  if ingest.repeated then
    select b.batch_seq into _batch_seq
    from svc.ingest_batches as b
    where b.environment_id = _key.environment_id and b.batch_id = ingest.batch_id;
    if found then
      return svc.repeated_outcome(
        _key.environment_id, _batch_seq, _operations, ingest.single, _key.project_id,
        case when _key.strict_schema then _key.active_version end, _key.rate_per_second, _key.rate_burst, floor(_tokens)::integer
      );
    end if;
  end if;
  if _key.frozen_at is not null then
    perform svc.raise_frozen();
  end if;

  _request_size := case
    when ingest.single then 1
    when _calls then coalesce(substring(ingest.body from '^\{"calls":(\d+),')::integer, _count)
    else _count
  end;
  -- A request may have more calls than a bucket holds: the excess is charged to later requests.
  if _request_size > 0 and _tokens < least(_request_size, _key.rate_burst) then
    raise exception using
      errcode = 'SV008',
      message = 'RATE_LIMIT_EXCEEDED',
      detail = svc.rate_failure(_request_size, _tokens, _key.rate_per_second, _key.rate_burst);
  end if;

  -- Tells readers of the event stream that a call in progress will store numbers above this one (svc.accepted_through). If another session
  -- holds the lock exclusively, any lower number serves as well; a random one cannot be predicted.
  _numbers := svc.batch_seq(_key.environment_id);
  _marker := coalesce(pg_sequence_last_value(_numbers), 0);
  while not pg_try_advisory_xact_lock_shared(-_key.environment_id, (_marker & 2147483647)::integer) loop
    _marker := _marker - 1 - floor(random() * 1000000)::bigint;
  end loop;
  _batch_seq := nextval(_numbers);
  _first_seq := _batch_seq * 1024;

  -- One pass over the payload; everything after it works on arrays, because the rows are needed more than once and a temporary table
  -- would cost catalog writes on every call. The schema's fast path is a predicate compiled when the version was deployed; operations that
  -- fail it are checked in detail.
  select
    array_agg(o."customerId"), array_agg(o.event), array_agg(o.payload), array_agg(o.explicit_at), array_agg(o."idempotencyKey"),
    array_agg(
      case when o."idempotencyKey" is not null then svc.payload_hash(o."customerId", coalesce(o.event, ''), o.payload, o.explicit_at) end
    ),
    array_agg(o.identify), array_agg(_first_seq + o.ordinality - 1), array_agg(true),
    array_agg(o.ordinality - 1) filter (where not o.conforms and _key.active_version is not null),
    count(*) filter (where o.identify),
    count(o."idempotencyKey"),
    coalesce(bool_or(o.explicit_at < _late_before), false)
  into _customers, _events, _properties, _explicit, _keys, _hashes, _identify, _seqs, _fresh, _suspects, _identified, _keyed, _late
  from (
    select
      r."customerId", r.event, r."idempotencyKey", p.identify, p.payload, r."timestamp" as explicit_at, r.ordinality,
      svc.payload_conforms(p.payload, c.names, c.predicate) is true as conforms
    from rows from (jsonb_to_recordset(_operations) as (
      type text, "customerId" text, event text, properties jsonb, traits jsonb, "timestamp" timestamptz, "idempotencyKey" text
    )) with ordinality as r
    cross join lateral (select r.type is not distinct from 'identify', coalesce(r.properties, r.traits, '{}')) as p (identify, payload)
    left join svc.payload_checks as c
      on c.project_id = _key.project_id
      and c.version = _key.active_version
      and c.event = case when p.identify then '' else r.event end
    -- The join may return rows in any order.
    order by r.ordinality
  ) as o;

  -- An identify has no time of its own. Late events in its call say that a history is sent, and so does a call of many identifies only, as
  -- tables of customers are sent.
  _late_identifies := not ingest.single and (_late or _identified >= 100 and _identified = _count);

  if _calls then
    -- Calls that the caller could not turn into operations.
    _held := svc.call_problems(_operations);
    _suspects := nullif(array(select s.n from unnest(_suspects) as s (n) where not _held ? s.n::text), '{}');
  end if;
  if _suspects is not null and _key.strict_schema and (_key.on_violation = 'quarantine' or _calls) then
    _held := coalesce(_held, '{}') || svc.violations_by_position(_key.project_id, _key.active_version, _operations, _suspects);
    _suspects := null;
  end if;
  if _held <> '{}' and not svc.has_quarantine_room(_key.environment_id, (select count(*) from jsonb_object_keys(_held))) then
    -- Check in detail, because repetitions are not kept again.
    _over_quarantine := svc.over_quarantine(_key.environment_id, _keys, _held);
    if _over_quarantine <> '{}' then
      _failures := svc.quarantine_full(_key.project_id, _key.active_version, _operations, _over_quarantine, ingest.single or _calls);
      _held := _held - array(select jsonb_object_keys(_over_quarantine));
      if not ingest.single and not _calls then
        _failures := svc.merged_failure(_failures);
        raise exception using errcode = 'SV007', message = _failures ->> 'code', detail = _failures;
      end if;
    end if;
  end if;
  if _suspects is not null then
    if not _key.strict_schema then
      -- Not all operations of a large call are checked, so the first of each event name comes first.
      select array_agg(s.n order by s.turn, s.n) into _suspects
      from (select u.n, row_number() over (partition by _events[u.n + 1] order by u.n) as turn from unnest(_suspects) as u (n)) as s;
    end if;
    _violations := svc.call_schema_failures(_key.project_id, _key.active_version, _operations, _suspects, ingest.single);
    if not _key.strict_schema then
      _warnings := _violations;
    elsif _violations <> '{}' and not ingest.single then
      _violations := svc.merged_failure(_violations);
      raise exception using errcode = 'SV007', message = _violations ->> 'code', detail = _violations;
    else
      _failures := _violations;
    end if;
  end if;

  if ingest.single then
    -- Each single event is a request of its own: those that exceed the bucket's content are refused, the others are accepted.
    select _failures || coalesce(jsonb_object_agg(n, svc.rate_failure(1, 0, _key.rate_per_second, _key.rate_burst)), '{}')
    into _failures
    from generate_series(floor(_tokens)::integer, _count - 1) as n;
  end if;
  if _failures <> '{}' then
    select array_agg(not _failures ? (n - 1)::text order by n) into _fresh from generate_series(1, _count) as n;
  end if;

  if _key.monthly_events is not null then
    _month_events := svc.month_events(_key.organization_id, _month);
    if _month_events + _count - _identified > _key.monthly_events then
      -- The quota may be exceeded; check in detail, because repetitions do not count.
      _over_quota := svc.over_quota(_key.environment_id, _keys, _identify, _fresh, _key.monthly_events - _month_events);
      if _over_quota <> '{}' then
        _failure := svc.quota_failure(
          _key.monthly_events, _month_events,
          case
            when ingest.single then 1
            else greatest(0, _key.monthly_events - _month_events) + (
              select count(distinct _keys[o.ordinal + 1]) + count(*) filter (where _keys[o.ordinal + 1] is null)
              from unnest(_over_quota) as o (ordinal)
            )
          end,
          _month, _now, _key.rate_burst, _tokens
        );
        if not ingest.single then
          raise exception using errcode = 'SV009', message = 'MONTHLY_QUOTA_EXCEEDED', detail = _failure;
        end if;
        select _failures || jsonb_object_agg(o.ordinal, _failure) into _failures from unnest(_over_quota) as o (ordinal);
        select array_agg(o.fresh and o.n - 1 <> all (_over_quota) order by o.n)
        into _fresh
        from unnest(_fresh) with ordinality as o (fresh, n);
      end if;
    end if;
  end if;

  if _keyed > 0 then
    _inserted := svc.store_keys(_key.environment_id, _keys, _hashes, _seqs, _fresh, _now);
    if _inserted < _keyed then
      -- Some keys existed, from an earlier call or from this one. A separate statement, because the inserting one cannot see rows
      -- that another call committed meanwhile.
      select
        array_agg(case when o.fresh then coalesce(k.event_seq, o.seq) end order by o.n),
        array_agg(o.fresh and coalesce(k.event_seq = o.seq, true) order by o.n),
        _failures || coalesce(jsonb_object_agg(o.n - 1, svc.conflict_failure(o.idempotency_key, o.n - 1, ingest.single))
          -- A repeated tracking call has a new sending time, from which another time of occurrence is computed.
          filter (where o.fresh and k.payload_hash <> o.payload_hash and not _calls), '{}'),
        bool_or(o.fresh and o.idempotency_key is not null and k.event_seq is null)
      into _seqs, _fresh, _failures, _erased
      from unnest(_keys, _hashes, _seqs, _fresh) with ordinality as o (idempotency_key, payload_hash, seq, fresh, n)
      left join svc.idempotency_keys as k
        on k.environment_id = _key.environment_id and k.idempotency_key = o.idempotency_key;
      if _erased then
        raise exception using errcode = '40001', message = 'An idempotency key was erased with its customer just now; call again.';
      end if;
      if not ingest.single and not _calls and _failures <> '{}' then
        raise exception using errcode = 'SV005', message = 'IDEMPOTENCY_CONFLICT', detail = svc.merged_failure(_failures);
      end if;
    end if;
  end if;

  if _held <> '{}' then
    _kept := array(select o.fresh and _held ? (o.n - 1)::text from unnest(_fresh) with ordinality as o (fresh, n) order by o.n);
    _fresh := array(select o.fresh and not o.kept from unnest(_fresh, _kept) with ordinality as o (fresh, kept, n) order by o.n);
  end if;

  insert into svc.events (environment_id, event_seq, customer_id, event, properties, occurred_at, accepted_at, idempotency_key)
  select h.environment_id, o.seq, o.customer_id, o.event, o.properties, coalesce(o.explicit_at, _now), _now, o.idempotency_key
  from svc.homes as h
  cross join unnest(_seqs, _customers, _events, _properties, _explicit, _keys, _identify, _fresh)
    as o (seq, customer_id, event, properties, explicit_at, idempotency_key, identify, fresh)
  where h.environment_id = _key.environment_id and o.fresh and not o.identify;
  get diagnostics _tracked = row_count;
  if _kept is not null then
    -- They are accepted, so they count like the others.
    _tracked := _tracked + (select count(*) from unnest(_kept, _identify) as o (kept, identify) where o.kept and not o.identify);
  end if;

  if _identified > 0 then
    if _calls then
      -- Repeated ones, which only the tracking API can have, store nothing.
      select count(*) filter (where o.identify and (o.fresh or coalesce(o.kept, false))) into _identified
      from unnest(_identify, _fresh, _kept) as o (identify, fresh, kept);
    end if;
    insert into svc.trait_updates (environment_id, operation_seq, customer_id, traits, accepted_at, idempotency_key)
    select h.environment_id, o.seq, o.customer_id, o.traits, _now, o.idempotency_key
    from svc.homes as h
    cross join unnest(_seqs, _customers, _properties, _keys, _identify, _fresh)
      as o (seq, customer_id, traits, idempotency_key, identify, fresh)
    where h.environment_id = _key.environment_id and o.identify and o.fresh;
  end if;

  if _tracked + _identified > 0 then
    insert into svc.inbox (environment_id, customer_id, seq, late)
    select
      h.environment_id, o.customer_id, o.seq,
      case when o.identify then _late_identifies else coalesce(o.explicit_at < _late_before, false) end
    from svc.homes as h
    cross join unnest(_seqs, _customers, _explicit, _identify, _fresh) as o (seq, customer_id, explicit_at, identify, fresh)
    where h.environment_id = _key.environment_id and o.fresh;

    insert into svc.ingest_batches (environment_id, batch_seq, batch_id, accepted_at, tracked, identified, late)
    values (_key.environment_id, _batch_seq, ingest.batch_id, _now, _tracked, _identified, _late);
    perform svc.request_evaluation(array[_key.environment_id]);
  end if;

  if _kept is not null then
    perform svc.quarantine_operations(_key.environment_id, _key.active_version, _operations, _seqs, _kept, _held, _now);
  end if;

  if _warnings <> '{}' then
    -- One call at a time, so that the number of kinds of a version is exact.
    perform from svc.config_versions as v
    where v.project_id = _key.project_id and v.version = _key.active_version
    for no key update;
    perform svc.record_schema_violations(_key.environment_id, _key.active_version, _events, _seqs, _fresh, _warnings, _now);
  end if;

  -- Last, so that the row is locked only while the transaction commits. Concurrent calls may overdraw the bucket. Refused operations are
  -- not charged. A call that began in the previous month is not counted if the new month has already begun in the row. What svc.rate_tokens
  -- takes for refilled before the clock was set back is refilled now, and a month of that time ends: svc_api.recount_usage adds what was
  -- stored in this month before. Compared with the present, because this call may have waited while a later one began the new month.
  _taken := _count - (select count(*) from jsonb_object_keys(_failures));
  update svc.key_usage as u
  set
    tokens = svc.rate_tokens(u.tokens, u.refilled_at, _now, _key.rate_per_second, _key.rate_burst) - _taken,
    refilled_at = case when u.refilled_at > clock_timestamp() + interval '10 seconds' then _now else greatest(u.refilled_at, _now) end,
    month = case when u.refilled_at > clock_timestamp() + interval '10 seconds' then _month else greatest(u.month, _month) end,
    month_events = case
      when u.month = _month then u.month_events + _tracked
      when u.month < _month or u.refilled_at > clock_timestamp() + interval '10 seconds' then _tracked
      else u.month_events
    end
  where u.key_hash = ingest.key_hash;

  _outcome := svc.ingest_outcome(
    _seqs, _first_seq, _identify, _failures, _warnings, ingest.single, _key.rate_burst, floor(_tokens)::integer - _taken
  );
  if _held <> '{}' then
    -- Includes operations that repeat a quarantined one.
    _outcome := svc.with_members(_outcome, svc.quarantined_among(_key.environment_id, _seqs));
  end if;
  return _outcome;
end;
$$;

comment on function svc_api.ingest(bytea, uuid, text, boolean, boolean) is
  'Accepts operations: checks key, plan, rate, schema and idempotency and inserts, in one call, all or nothing.';
