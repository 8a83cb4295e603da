-- The environments in which svc_api.sweep_operations, sweep_keys, sweep_quarantine or sweep_logs may find something: those whose plan
-- limits how long operations are kept, or that have keys, logs or quarantined operations to remove some day. One index probe for each
-- environment.
-- Raises nothing, locks nothing.
create or replace function svc_api.environments_to_sweep()
returns setof integer
language plpgsql
stable
security definer
set search_path = ''
-- Force index scans, whatever the statistics say.
set enable_seqscan = off
as $$
declare
  _holding integer[];
begin
  select array_agg(h.environment_id) into _holding
  from svc.homes as h
  left join lateral (select true as is_there from svc.retired_keys as k where k.environment_id = h.environment_id limit 1) as k on true
  left join lateral (
    select true as is_there from svc.quarantined_operations as q where q.environment_id = h.environment_id limit 1
  ) as q on true
  left join lateral (select true as is_there from svc.superseded_logs as l where l.environment_id = h.environment_id limit 1) as l on true
  where k.is_there or q.is_there or l.is_there;

  return query
  select e.environment_id
  from svc.environments as e
  join svc.projects as j on j.project_id = e.project_id
  join iam.organizations as o on o.organization_id = j.organization_id
  join iam.plans as p on p.plan_id = o.plan_id
  where p.retention_days is not null or e.environment_id = any(_holding)
  order by e.environment_id;
end;
$$;

comment on function svc_api.environments_to_sweep() is 'The environments in which there may be expired rows to remove.';
