-- The environments in which svc_api.sweep_operations, sweep_keys, sweep_quarantine or sweep_logs may find something: whose plan keeps
-- operations for a time, or where keys, logs or what is in quarantine are to be removed some day. One probe of an index for each
-- environment.
-- Raises nothing, locks nothing.
create or replace function svc_api.environments_to_sweep()
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
  join svc.projects as j on j.project_id = e.project_id
  join iam.organizations as o on o.organization_id = j.organization_id
  join iam.plans as p on p.plan_id = o.plan_id
  where p.retention_days is not null
    or (select true from svc.retired_keys as k where k.environment_id = e.environment_id limit 1)
    or (select true from svc.quarantined_operations as q where q.environment_id = e.environment_id limit 1)
    or (select true from svc.superseded_logs as l where l.environment_id = e.environment_id limit 1)
  order by e.environment_id
$$;

comment on function svc_api.environments_to_sweep() is 'The environments in which there may be something to remove because of its age.';
