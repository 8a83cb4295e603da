-- The track operations that an organization has stored in a month, over all keys of its environments, revoked ones included.
-- Raises nothing, locks nothing.
create or replace function svc.month_events(organization_id text, month date)
returns bigint
language sql
stable
set search_path = ''
as $$
  select coalesce(sum(u.month_events), 0)::bigint
  from svc.projects as p
  join svc.environments as e on e.project_id = p.project_id
  join svc.api_keys as k on k.environment_id = e.environment_id
  join svc.key_usage as u on u.key_hash = k.key_hash
  where p.organization_id = month_events.organization_id and u.month = month_events.month;
$$;

comment on function svc.month_events(text, date) is 'Track operations that an organization has stored in a month.';
