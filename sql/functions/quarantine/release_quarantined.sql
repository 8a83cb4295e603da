-- Performs one step of releasing operations from quarantine: those named, or all that pass the filters, in the order of acceptance. One
-- that is valid under the active version is stored with its original number, instants and key, and waits for evaluation; an invalid one
-- stays, with its new violation: {released, kept, expired, nextCursor}; expired are too old. Repeating a request changes nothing more.
-- mapped: {version, read, operations}: into which operations, by id, that version turns the calls that svc_api.list_quarantined_calls
-- answered (read). A call that was not mapped by the active version is left to the next step. Processes of the previous release send only
-- the operations. An identify sets only traits that no later one has set.
-- Raises what iam.authorize and iam.record_audit raise, SV004 PROJECT_NOT_FOUND, SV006 VALIDATION_ERROR (cursor). Locks the environment's
-- row of svc.retention, the customers' rows in id order (first those that exist), the operations, and the row of svc.quarantines.
create or replace function svc_api.release_quarantined(
  token_hash bytea, organization_id text, request_id text, project_slug text, environment_name text,
  ids text[], event text, code text, "cursor" text, mapped jsonb
)
returns json
language plpgsql
volatile
security definer
set search_path = ''
-- Force look-ups by key, whatever the statistics say.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  _environment constant record := svc.authorize_environment(
    token_hash, organization_id, project_slug, environment_name, 'release_quarantined'
  );
  _id constant integer := _environment.environment_id;
  _after constant bigint := coalesce(svc.decode_cursor('quarantine-step', release_quarantined.cursor, '^[0-9]{1,18}$')::bigint, 0);
  _before constant timestamptz := now() - svc.quarantine_days(_id) * interval '24 hours';
  -- What a former version made of a call counts no more.
  _mapped_operations constant jsonb := case
    when release_quarantined.mapped ? 'read'
      and (release_quarantined.mapped ->> 'version')::integer is distinct from _environment.active_version
      then '{}'
    else coalesce(release_quarantined.mapped -> 'operations', release_quarantined.mapped, '{}')
  end;
  _unread bigint;
  _step record;
  _seqs bigint[];
  _valid_seqs bigint[];
  _operations jsonb;
  _held jsonb := '{}';
  _concerned text[];
  _new text[];
  _locked text[];
  _unlocked bigint;
  _taken_seqs bigint[];
  _customers text[];
  _events text[];
  _taken jsonb[];
  _instants timestamptz[];
  _keys text[];
begin
  -- iam.record_audit is called only for what is released, but what stays gets its present violation.
  perform svc.require_unfrozen(_id);
  perform svc.lock_retention(_id);
  _step := svc.quarantine_step(_id, _after, release_quarantined.ids, release_quarantined.event, release_quarantined.code);
  -- Another request may have taken what the caller read, or activated another version.
  if release_quarantined.mapped ? 'read' then
    select min(q.seq) into _unread
    from svc.quarantined_operations as q
    where q.environment_id = _id and q.seq = any(_step.seqs) and q.call is not null
      and q.version <> coalesce(_environment.active_version, 0)
      and not (
        release_quarantined.mapped -> 'read' ? svc.quarantined_id(q.seq)
        and (release_quarantined.mapped ->> 'version')::integer is not distinct from _environment.active_version
      );
    if _unread is not null then
      _step.seqs := array(select s.seq from unnest(_step.seqs) as s (seq) where s.seq < _unread order by s.seq);
      _step.resume := _unread - 1;
    end if;
  end if;

  -- Customers are locked first, as everywhere: those of the operations as stored and as mapped.
  select array_agg(distinct u.customer_id) into _concerned
  from (
    select q.customer_id from svc.quarantined_operations as q where q.environment_id = _id and q.seq = any(_step.seqs)
    union all
    select m.value ->> 'customerId' from jsonb_each(_mapped_operations) as m where svc.quarantined_seq(m.key) = any(_step.seqs)
  ) as u;
  perform from svc.customers as c
  where c.environment_id = _id and c.customer_id = any(_concerned)
  order by c.customer_id
  for update;
  -- New ones are inserted, because an erasure inserts them, too. Not earlier: an evaluation that holds others waits for them.
  with added as (
    insert into svc.customers (environment_id, customer_id, created_at)
    select h.environment_id, u.customer_id, now()
    from svc.homes as h
    cross join unnest(_concerned) as u (customer_id)
    where h.environment_id = _id
    order by u.customer_id collate "C"
    on conflict do nothing
    returning customer_id
  )
  select array_agg(a.customer_id) into _new from added as a;
  -- Nor is one waited for that an evaluation inserted meanwhile and holds: its operations are left to the next step.
  select coalesce(array_agg(l.customer_id), '{}') into _locked
  from (
    select c.customer_id
    from svc.customers as c
    where c.environment_id = _id and c.customer_id = any(_concerned)
    for update skip locked
  ) as l;
  select min(o.seq) into _unlocked
  from (
    select q.seq, q.customer_id from svc.quarantined_operations as q where q.environment_id = _id and q.seq = any(_step.seqs)
    union all
    select svc.quarantined_seq(m.key), m.value ->> 'customerId' from jsonb_each(_mapped_operations) as m
  ) as o
  where o.seq = any(_step.seqs) and o.customer_id <> all(_locked);
  _step.resume := coalesce(_unlocked - 1, _step.resume);
  -- Without what was erased while this waited: it is neither released nor expired.
  _step.seqs := array(
    select q.seq
    from svc.quarantined_operations as q
    where q.environment_id = _id and q.seq = any(_step.seqs) and (_unlocked is null or q.seq < _unlocked)
    order by q.seq
  );

  update svc.quarantined_operations as q
  set operation = m.value, customer_id = m.value ->> 'customerId', event = m.value ->> 'event'
  from jsonb_each(_mapped_operations) as m
  where q.environment_id = _id and q.seq = svc.quarantined_seq(m.key) and q.seq = any(_step.seqs) and q.call is not null
    and (m.value ->> 'type' is not distinct from 'identify') = (q.event is null);

  -- Expired operations are removed with the batch of their call, so only those whose batch still exists can be released.
  select coalesce(array_agg(q.seq order by q.seq), '{}'), jsonb_agg(q.operation order by q.seq)
  into _seqs, _operations
  from svc.quarantined_operations as q
  join svc.ingest_batches as b on b.environment_id = _id and b.batch_seq = q.seq >> 10
  where q.environment_id = _id and q.seq = any(_step.seqs) and q.quarantined_at >= _before;

  if exists (
    select from svc.config_versions as v
    where v.project_id = _environment.project_id and v.version = _environment.active_version and v.strict_schema
  ) then
    _held := svc.violations_by_position(
      _environment.project_id, _environment.active_version, _operations,
      array(
        select n - 1 from generate_series(1, cardinality(_seqs)::bigint) as n where not _operations -> (n - 1)::integer ? 'problem'
      )
    );
  end if;
  _held := _held || svc.call_problems(_operations);
  if _held <> '{}' then
    update svc.quarantined_operations as q
    set
      version = coalesce(_environment.active_version, q.version), code = h.value ->> 'code', message = h.value ->> 'message',
      path = h.value ->> 'path',
      violations = h.value -> 'violations'
    from jsonb_each(_held) as h
    where q.environment_id = _id and q.seq = _seqs[h.key::integer + 1]
      and (q.version, q.code, q.path) is distinct from (_environment.active_version, h.value ->> 'code', h.value ->> 'path');
  end if;

  _valid_seqs := array(select s.seq from unnest(_seqs) with ordinality as s (seq, n) where not _held ? (s.n - 1)::text);

  select
    coalesce(array_agg(t.seq), '{}'), coalesce(array_agg(t.customer_id), '{}'), array_agg(t.event), array_agg(t.operation),
    array_agg(t.quarantined_at), array_agg(t.idempotency_key)
  into _taken_seqs, _customers, _events, _taken, _instants, _keys
  from svc.take_from_quarantine(_id, _valid_seqs, false) as t;

  insert into svc.events (environment_id, event_seq, customer_id, event, properties, occurred_at, accepted_at, idempotency_key)
  select
    h.environment_id, t.seq, t.customer_id, t.event, coalesce(t.operation -> 'properties', '{}'),
    coalesce((t.operation ->> 'timestamp')::timestamptz, t.at), t.at, t.idempotency_key
  from svc.homes as h
  cross join unnest(_taken_seqs, _customers, _events, _taken, _instants, _keys)
    as t (seq, customer_id, event, operation, at, idempotency_key)
  where h.environment_id = _id and t.event is not null;

  -- The customers' rows are locked, so an identify sees all traits set after it.
  insert into svc.trait_updates (environment_id, operation_seq, customer_id, traits, accepted_at, idempotency_key)
  select
    h.environment_id, t.seq, t.customer_id,
    (t.operation -> 'traits') - array(
      select k.name
      from svc.trait_updates as u
      cross join lateral jsonb_object_keys(u.traits) as k (name)
      where u.environment_id = _id and u.customer_id = t.customer_id and u.operation_seq > t.seq
    ),
    t.at, t.idempotency_key
  from svc.homes as h
  cross join unnest(_taken_seqs, _customers, _events, _taken, _instants, _keys)
    as t (seq, customer_id, event, operation, at, idempotency_key)
  where h.environment_id = _id and t.event is null;

  -- Late, because its number is older than those of all that happens now, which would wait for it.
  insert into svc.inbox (environment_id, customer_id, seq, late)
  select h.environment_id, t.customer_id, t.seq, true
  from svc.homes as h
  cross join unnest(_customers, _taken_seqs) as t (customer_id, seq)
  where h.environment_id = _id;

  -- A customer begins with the first of its operations; of a new one, others may be waiting, too.
  perform svc.begin_customers(_id, _customers, _new);

  -- Delete new customers of whom nothing is released.
  delete from svc.customers as c
  where c.environment_id = _id and c.customer_id = any(_new) and c.customer_id <> all(_customers);

  if _customers <> '{}' then
    perform svc.request_evaluation(array[_id]);
    perform iam.record_audit(
      _environment.actor, release_quarantined.request_id, 'quarantine.released', release_quarantined.project_slug,
      release_quarantined.environment_name, null, jsonb_build_object('operations', cardinality(_customers))
    );
  end if;
  return json_build_object(
    'released', cardinality(_customers),
    'kept', (select count(*) from jsonb_object_keys(_held)),
    'expired', cardinality(_step.seqs) - cardinality(_seqs),
    'nextCursor', svc.encode_cursor('quarantine-step', _step.resume::text)
  );
end;
$$;

comment on function svc_api.release_quarantined(bytea, text, text, text, text, text[], text, text, text, jsonb) is
  'Releases operations from quarantine that are valid under the active version, a limited number at once.';
