-- Stores operations of a call in quarantine: those in held (from svc.violations_by_position) for which kept is true. The arrays are by
-- position.
-- Raises nothing. Locks the environment's row of svc.quarantines until the transaction ends.
create or replace function svc.quarantine_operations(
  environment_id integer, version integer, operations jsonb, seqs bigint[], kept boolean[], held jsonb, at timestamptz
)
returns void
language plpgsql
volatile
set search_path = ''
as $$
-- Parameters are always qualified; `on conflict` cannot qualify its columns.
#variable_conflict use_column
declare
  _operations bigint;
  _bytes bigint;
begin
  with kept as (
    insert into svc.quarantined_operations as q (
      environment_id, seq, customer_id, event, operation, call, idempotency_key, quarantined_at, bytes, version, code, message, path,
      violations
    )
    select
      x.environment_id, quarantine_operations.seqs[h.n + 1], o.operation ->> 'customerId', o.operation ->> 'event',
      o.operation - 'call', o.operation -> 'call', o.operation ->> 'idempotencyKey', quarantine_operations.at,
      octet_length(o.operation::text),
      coalesce(quarantine_operations.version, 0), h.value ->> 'code', h.value ->> 'message', h.value ->> 'path', h.value -> 'violations'
    from svc.homes as x
    cross join (select k.key::integer as n, k.value from jsonb_each(quarantine_operations.held) as k) as h
    cross join lateral (select quarantine_operations.operations -> h.n as operation) as o
    where x.environment_id = quarantine_operations.environment_id and quarantine_operations.kept[h.n + 1]
    returning q.bytes
  )
  select count(*), sum(k.bytes) into _operations, _bytes from kept as k;

  if _operations > 0 then
    insert into svc.quarantines as q (environment_id, operations, bytes)
    values (quarantine_operations.environment_id, _operations, _bytes)
    on conflict (environment_id) do update
    set operations = q.operations + excluded.operations, bytes = q.bytes + excluded.bytes;
  end if;
end;
$$;

comment on function svc.quarantine_operations(integer, integer, jsonb, bigint[], boolean[], jsonb, timestamptz) is
  'Stores operations of a call in quarantine.';
