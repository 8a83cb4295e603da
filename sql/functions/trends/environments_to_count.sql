-- The environments for which svc_api.count_trends has something to count.
-- Raises nothing, locks nothing.
create or replace function svc_api.environments_to_count()
returns setof integer
language sql
stable
security definer
set search_path = ''
-- Force index scans, whatever the statistics say.
set enable_seqscan = off
as $$
  select h.environment_id
  from svc.homes as h
  left join svc.trend_progress as p on p.environment_id = h.environment_id
  left join lateral (select true as is_there from svc.trend_changes as c where c.environment_id = h.environment_id limit 1) as c on true
  left join lateral (
    select true as is_there
    from svc.ingest_batches as b
    where b.environment_id = h.environment_id and b.batch_seq > coalesce(p.counted_through, 0)
    limit 1
  ) as b on true
  where p.outdated_since is not null or c.is_there or b.is_there
  order by h.environment_id
$$;

comment on function svc_api.environments_to_count() is 'The environments whose trends are behind their logs.';
