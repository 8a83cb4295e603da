-- Stores the idempotency keys of the operations that are fresh, and answers how many of them were new. In key order, so that calls that
-- share keys cannot deadlock. Most large calls have only new keys, and a plain insert costs a third less than one that checks for
-- conflicts row by row: so it is tried first, in a subtransaction that ends at the first known key. A call that is repeated as a whole
-- wastes one row; one in which only the last key is known pays twice.
-- Raises nothing. Locks the new keys until the transaction ends, and waits for a call that is just storing one of them.
create or replace function svc.store_keys(
  environment_id integer, keys text[], hashes bigint[], seqs bigint[], fresh boolean[], at timestamptz
)
returns integer
language plpgsql
volatile
set search_path = ''
as $$
declare
  -- Up to this number a subtransaction costs as much as it saves.
  _few constant integer := 100;
  _stored integer;
begin
  if cardinality(array_remove(store_keys.keys, null)) > _few then
    begin
      insert into svc.idempotency_keys (environment_id, idempotency_key, payload_hash, event_seq, created_at)
      select h.environment_id, o.idempotency_key, o.payload_hash, o.seq, store_keys.at
      from svc.homes as h
      cross join unnest(store_keys.keys, store_keys.hashes, store_keys.seqs, store_keys.fresh)
        as o (idempotency_key, payload_hash, seq, fresh)
      where h.environment_id = store_keys.environment_id and o.idempotency_key is not null and o.fresh
      order by o.idempotency_key collate "C", o.seq;
      get diagnostics _stored = row_count;
      return _stored;
    exception
      when unique_violation then null;
    end;
  end if;

  insert into svc.idempotency_keys (environment_id, idempotency_key, payload_hash, event_seq, created_at)
  select h.environment_id, o.idempotency_key, o.payload_hash, o.seq, store_keys.at
  from svc.homes as h
  cross join unnest(store_keys.keys, store_keys.hashes, store_keys.seqs, store_keys.fresh)
    as o (idempotency_key, payload_hash, seq, fresh)
  where h.environment_id = store_keys.environment_id and o.idempotency_key is not null and o.fresh
  order by o.idempotency_key collate "C", o.seq
  on conflict do nothing;
  get diagnostics _stored = row_count;
  return _stored;
end;
$$;

comment on function svc.store_keys(integer, text[], bigint[], bigint[], boolean[], timestamptz) is
  'Stores new idempotency keys and answers how many were new.';
