-- Accepts one call of operations, all or nothing: a batch ({"events": […]}), or with single = true an array of at most 1,000 single
-- events that came in one by one, each with its own outcome. The caller has checked the shape. batch_id is made by the caller before
-- its first try; repeated = true says that an earlier try may have been accepted, whose outcome is then answered again.
-- Raises SV001 INVALID_API_KEY, SV002 PLAN_REQUIRED, SV008 RATE_LIMIT_EXCEEDED; for a batch also SV007 (schema) and SV005
-- IDEMPOTENCY_CONFLICT. With single = true those two, and a rate limit reached in the middle, are outcomes of the events concerned.
-- Locks its batch_id (advisory), and the rate bucket last and for as short as can be; no customer row.
create or replace function svc_api.ingest(key_hash bytea, batch_id uuid, body text, single boolean, repeated boolean default false)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _now constant timestamptz := date_trunc('milliseconds', clock_timestamp());
  _late_before constant timestamptz := _now - interval '5 minutes';
  _key record;
  _tokens double precision;
  _operations jsonb;
  _batch_seq bigint;
  _first_seq bigint;
  _count integer;
  _request_size integer;
  _taken integer;
  _keyed integer;
  _inserted integer;
  _tracked integer;
  _identified integer;
  _late boolean;
  _customers text[];
  _events text[];
  _properties jsonb[];
  _occurred timestamptz[];
  _keys text[];
  _hashes bigint[];
  _identify boolean[];
  _suspects bigint[];
  _violations jsonb;
  _warnings jsonb;
  -- Per operation: the event that answers it, whether it stores anything, and why it was refused.
  _seqs bigint[];
  _fresh boolean[];
  _failures jsonb := '{}';
begin
  -- A call that is repeated because its connection was lost may find the first try still at work. It waits here, so that it sees either
  -- all of it or nothing.
  perform pg_advisory_xact_lock(uuid_hash_extended(ingest.batch_id, 0));

  select k.environment_id, e.project_id, e.active_version, v.strict_schema, p.cloud_execution, p.rate_per_second, p.rate_burst,
    b.tokens, b.refilled_at
  into _key
  from svc.api_keys as k
  join svc.environments as e on e.environment_id = k.environment_id
  join svc.projects as j on j.project_id = e.project_id
  join iam.organizations as o on o.organization_id = j.organization_id
  join iam.plans as p on p.plan_id = o.plan_id
  join svc.rate_buckets as b on b.key_hash = k.key_hash
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

  -- The bucket was read without a lock, so that an over-limit call is refused cheaply. It is updated in the last statement.
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

  _request_size := case when ingest.single then 1 else _count end;
  if _tokens < _request_size then
    raise exception using
      errcode = 'SV008',
      message = 'RATE_LIMIT_EXCEEDED',
      detail = svc.rate_failure(_request_size, _tokens, _key.rate_per_second, _key.rate_burst);
  end if;

  _batch_seq := nextval('svc.batch_seq');
  _first_seq := _batch_seq * 1024;

  -- One pass over the payload; everything after it works on arrays, because the rows are needed more than once and a temporary table
  -- would cost catalog writes on every call.
  select
    array_agg(o."customerId"), array_agg(o.event), array_agg(o.payload), array_agg(coalesce(o.explicit_at, _now)),
    array_agg(o."idempotencyKey"),
    array_agg(case when o."idempotencyKey" is not null then svc.payload_hash(o."customerId", o.event, o.payload, o.explicit_at) end),
    array_agg(o.identify), array_agg(_first_seq + o.ordinality - 1), array_agg(true),
    count(*) filter (where o.identify),
    count(o."idempotencyKey"),
    bool_or(not o.identify and o.explicit_at < _late_before)
  into _customers, _events, _properties, _occurred, _keys, _hashes, _identify, _seqs, _fresh, _identified, _keyed, _late
  from (
    select
      r."customerId", r.event, r."idempotencyKey",
      r.type is not distinct from 'identify' as identify,
      coalesce(r.properties, r.traits, '{}') as payload,
      r."timestamp" as explicit_at,
      r.ordinality
    from rows from (jsonb_to_recordset(_operations) as (
      type text, "customerId" text, event text, properties jsonb, traits jsonb, "timestamp" timestamptz, "idempotencyKey" text
    )) with ordinality as r
  ) as o;

  if _key.active_version is not null then
    -- The fast path: a predicate that was compiled when the version was deployed. What it does not pass is looked at in detail.
    select array_agg(o.n - 1) into _suspects
    from unnest(_events, _properties, _identify) with ordinality as o (event, payload, identify, n)
    left join svc.payload_checks as c
      on c.project_id = _key.project_id
      and c.version = _key.active_version
      and c.event = case when o.identify then '' else o.event end
    where svc.payload_conforms(o.payload, c.names, c.predicate) is not true;

    if _suspects is not null then
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
  end if;

  if ingest.single then
    -- Each single event is a request of its own: those past the bucket's content are refused, the others go through.
    select _failures || coalesce(jsonb_object_agg(n, svc.rate_failure(1, 0, _key.rate_per_second, _key.rate_burst)), '{}')
    into _failures
    from generate_series(floor(_tokens)::integer, _count - 1) as n;
    if _failures <> '{}' then
      select array_agg(not _failures ? (n - 1)::text order by n) into _fresh from generate_series(1, _count) as n;
    end if;
  end if;

  if _keyed > 0 then
    -- In key order, so that calls that share keys cannot deadlock.
    insert into svc.idempotency_keys (environment_id, idempotency_key, payload_hash, event_seq, created_at)
    select _key.environment_id, o.idempotency_key, o.payload_hash, o.seq, _now
    from unnest(_keys, _hashes, _seqs, _fresh) as o (idempotency_key, payload_hash, seq, fresh)
    where o.idempotency_key is not null and o.fresh
    order by o.idempotency_key collate "C", o.seq
    on conflict do nothing;
    get diagnostics _inserted = row_count;

    if _inserted < _keyed then
      -- Some keys were taken, by an earlier call or in this one. A statement of its own, because the inserting one cannot see rows
      -- that another call committed meanwhile.
      select
        array_agg(case when o.fresh then coalesce(k.event_seq, o.seq) end order by o.n),
        array_agg(o.fresh and coalesce(k.event_seq = o.seq, true) order by o.n),
        _failures || coalesce(jsonb_object_agg(o.n - 1, svc.conflict_failure(o.idempotency_key, o.n - 1, ingest.single))
          filter (where o.fresh and k.payload_hash <> o.payload_hash), '{}')
      into _seqs, _fresh, _failures
      from unnest(_keys, _hashes, _seqs, _fresh) with ordinality as o (idempotency_key, payload_hash, seq, fresh, n)
      left join svc.idempotency_keys as k
        on k.environment_id = _key.environment_id and k.idempotency_key = o.idempotency_key;
      if not ingest.single and _failures <> '{}' then
        raise exception using errcode = 'SV005', message = 'IDEMPOTENCY_CONFLICT', detail = svc.merged_failure(_failures);
      end if;
    end if;
  end if;

  insert into svc.events (environment_id, event_seq, customer_id, event, properties, occurred_at, accepted_at)
  select _key.environment_id, o.seq, o.customer_id, o.event, o.properties, o.occurred_at, _now
  from unnest(_seqs, _customers, _events, _properties, _occurred, _identify, _fresh)
    as o (seq, customer_id, event, properties, occurred_at, identify, fresh)
  where o.fresh and not o.identify;
  get diagnostics _tracked = row_count;

  if _identified > 0 then
    insert into svc.trait_updates (environment_id, operation_seq, customer_id, traits, accepted_at)
    select _key.environment_id, o.seq, o.customer_id, o.traits, _now
    from unnest(_seqs, _customers, _properties, _identify) as o (seq, customer_id, traits, identify)
    where o.identify;
  end if;

  if _tracked + _identified > 0 then
    insert into svc.inbox (environment_id, customer_id, seq)
    select _key.environment_id, o.customer_id, o.seq
    from unnest(_seqs, _customers, _fresh) as o (seq, customer_id, fresh)
    where o.fresh;

    insert into svc.ingest_batches (environment_id, batch_seq, batch_id, accepted_at, tracked, identified, late)
    values (_key.environment_id, _batch_seq, ingest.batch_id, _now, _tracked, _identified, coalesce(_late, false));
  end if;

  -- Last, so that the row is locked only while the transaction commits. Calls in flight at once may take it into debt. What is refused
  -- takes nothing.
  _taken := _count - (select count(*) from jsonb_object_keys(_failures));
  update svc.rate_buckets as b
  set
    tokens = svc.rate_tokens(b.tokens, b.refilled_at, _now, _key.rate_per_second, _key.rate_burst) - _taken,
    refilled_at = greatest(b.refilled_at, _now)
  where b.key_hash = ingest.key_hash;

  return svc.ingest_outcome(
    _seqs, _first_seq, _identify, _failures, _warnings, ingest.single, _key.rate_burst, floor(_tokens)::integer - _taken
  );
end;
$$;

comment on function svc_api.ingest(bytea, uuid, text, boolean, boolean) is
  'Accepts operations: key, plan, rate, schema, idempotency and insert in one call, all or nothing.';
