-- Deletes the inbox rows of operations that were evaluated: [{customerId, seqs}].
-- Raises nothing. Locks the rows; the caller has locked the customers.
create or replace function svc.leave_inbox(environment_id integer, consumed json)
returns void
language sql
volatile
set search_path = ''
-- Look each row up by key and delete it by its ctid. Statistics lag behind a backfill, and the delete also names the environment: without
-- these settings, a plan made while the table was small would read the environment's whole inbox for every chunk.
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_material = off
as $$
  delete from svc.inbox as i
  using json_to_recordset(leave_inbox.consumed) as r ("customerId" text, seqs bigint[])
  cross join lateral (
    select k.ctid as place
    from svc.inbox as k
    where k.environment_id = leave_inbox.environment_id and k.customer_id = r."customerId" and k.seq = any(r.seqs)
    -- One search per customer.
    offset 0
  ) as p
  where i.environment_id = leave_inbox.environment_id and i.ctid = p.place
$$;

comment on function svc.leave_inbox(integer, json) is 'Deletes the inbox rows of operations that were evaluated.';
