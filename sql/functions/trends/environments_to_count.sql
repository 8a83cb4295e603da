-- The environments of which svc_api.count_trends has something to count.
-- Raises nothing, locks nothing.
create or replace function svc_api.environments_to_count()
returns setof integer
language sql
stable
security definer
set search_path = ''
-- By index, whatever the statistics say.
set enable_seqscan = off
as $$
  select e.environment_id
  from svc.environments as e
  left join svc.trend_progress as p on p.environment_id = e.environment_id
  where p.outdated_since is not null
    or exists (select from svc.trend_changes as c where c.environment_id = e.environment_id)
    or exists (
      select from svc.ingest_batches as b where b.environment_id = e.environment_id and b.batch_seq > coalesce(p.counted_through, 0)
    )
  order by e.environment_id
$$;

comment on function svc_api.environments_to_count() is 'The environments whose trends are behind their logs.';
