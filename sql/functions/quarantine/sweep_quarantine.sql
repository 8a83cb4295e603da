-- Discards operations that have been in an environment's quarantine for too long, at most `row_limit` at once; answers how many. Call it
-- again until it answers 0.
-- Raises nothing. Locks what svc.lock_retention and svc.take_from_quarantine lock, if anything is in quarantine.
create or replace function svc_api.sweep_quarantine(environment_id integer, row_limit integer)
returns integer
language plpgsql
volatile
security definer
set search_path = ''
-- Force look-ups by key, whatever the statistics say.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  _before constant timestamptz := now() - svc.quarantine_days(sweep_quarantine.environment_id) * interval '24 hours';
  _seqs bigint[];
  _rows integer;
begin
  -- Before the row of svc.retention is locked or added: an import may be bringing its own to an empty environment.
  if not exists (select from svc.quarantined_operations as q where q.environment_id = sweep_quarantine.environment_id) then
    return 0;
  end if;
  perform svc.lock_retention(sweep_quarantine.environment_id);
  select array_agg(o.seq) into _seqs
  from (
    select q.seq, q.quarantined_at
    from svc.quarantined_operations as q
    where q.environment_id = sweep_quarantine.environment_id
    order by q.seq
    limit sweep_quarantine.row_limit
  ) as o
  where o.quarantined_at < _before;
  select count(*) into _rows from svc.take_from_quarantine(sweep_quarantine.environment_id, _seqs, true);
  return _rows;
end;
$$;

comment on function svc_api.sweep_quarantine(integer, integer) is
  'Discards operations that have been in quarantine for too long, a limited number at once.';
