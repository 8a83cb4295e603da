-- The instant from which everything that an environment accepted is still stored, if retention has removed older operations; else null.
-- Raises nothing, locks nothing.
create or replace function svc.retained_from(environment_id integer)
returns timestamptz
language sql
stable
set search_path = ''
as $$
  select coalesce(
    (
      select b.accepted_at
      from svc.ingest_batches as b
      where b.environment_id = retained_from.environment_id and b.batch_seq > r.removed_through
      order by b.batch_seq
      limit 1
    ),
    r.last_removed_at
  )
  from svc.retention as r
  where r.environment_id = retained_from.environment_id and r.events_removed > 0;
$$;

comment on function svc.retained_from(integer) is
  'The instant from which everything that an environment accepted is still stored; null if nothing was removed.';
