-- Changes the limits of a plan that are in `changes`, with the names of its document, null for no limit; creates the plan if it does not
-- exist, which then needs ratePerSecond and rateBurst. Answers {plan, changes: {limit: {from, to}}} with the limits that changed; these are
-- also recorded in the audit log of every organization that has the plan.
-- Raises SV004 PLAN_NOT_FOUND if a new plan lacks these, and the constraints' errors. Locks the plan's row.
create or replace function svc_api.operator_set_plan(plan_id text, changes jsonb)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _id constant text := operator_set_plan.plan_id;
  _changes constant jsonb := operator_set_plan.changes;
  _limits constant text[] := array[
    'ratePerSecond', 'rateBurst', 'monthlyEvents', 'retentionDays', 'supersededDays', 'cloudExecution', 'ai', 'stateBytes',
    'projects', 'members', 'tokens', 'versions', 'versionBytes', 'keys', 'webhooks', 'recomputes', 'previews', 'changes'
  ];
  _before jsonb;
  _plan iam.plans;
  _changed jsonb;
begin
  if jsonb_typeof(_changes -> 'ratePerSecond') = 'number' and jsonb_typeof(_changes -> 'rateBurst') = 'number' then
    insert into iam.plans (plan_id, rate_per_second, rate_burst)
    values (_id, (_changes ->> 'ratePerSecond')::integer, (_changes ->> 'rateBurst')::integer)
    on conflict do nothing;
    if found then
      _before := '{}';
    end if;
  end if;
  _plan := iam.lock_plan(
    _id, 'To make a plan of that name, give --rate-per-second and --rate-burst. `svc-server plans list` shows the plans.'
  );
  _before := coalesce(_before, iam.plan_document(_plan)::jsonb);

  update iam.plans as p
  set
    rate_per_second = coalesce((_changes ->> 'ratePerSecond')::integer, p.rate_per_second),
    rate_burst = coalesce((_changes ->> 'rateBurst')::integer, p.rate_burst),
    monthly_events = case when _changes ? 'monthlyEvents' then (_changes ->> 'monthlyEvents')::bigint else p.monthly_events end,
    retention_days = case when _changes ? 'retentionDays' then (_changes ->> 'retentionDays')::integer else p.retention_days end,
    superseded_days = case when _changes ? 'supersededDays' then (_changes ->> 'supersededDays')::integer else p.superseded_days end,
    cloud_execution = coalesce((_changes ->> 'cloudExecution')::boolean, p.cloud_execution),
    ai = coalesce((_changes ->> 'ai')::boolean, p.ai),
    state_bytes = coalesce((_changes ->> 'stateBytes')::integer, p.state_bytes),
    projects = coalesce((_changes ->> 'projects')::integer, p.projects),
    members = coalesce((_changes ->> 'members')::integer, p.members),
    tokens = coalesce((_changes ->> 'tokens')::integer, p.tokens),
    versions = coalesce((_changes ->> 'versions')::integer, p.versions),
    version_bytes = coalesce((_changes ->> 'versionBytes')::integer, p.version_bytes),
    keys = coalesce((_changes ->> 'keys')::integer, p.keys),
    webhooks = coalesce((_changes ->> 'webhooks')::integer, p.webhooks),
    recomputes = coalesce((_changes ->> 'recomputes')::integer, p.recomputes),
    previews = coalesce((_changes ->> 'previews')::integer, p.previews),
    changes = coalesce((_changes ->> 'changes')::integer, p.changes)
  where p.plan_id = _id
  returning p.* into _plan;

  select jsonb_object_agg(n.name, jsonb_build_object('from', _before -> n.name, 'to', a.document -> n.name)) into _changed
  from unnest(_limits) as n (name)
  cross join (select iam.plan_document(_plan)::jsonb as document) as a
  where coalesce(_before -> n.name, 'null') <> a.document -> n.name;

  if _changed is not null then
    perform iam.record_audit(iam.operator_actor(o.organization_id), null, 'plan.changed', null, null, _id, _changed)
    from iam.organizations as o
    where o.plan_id = _id;
  end if;
  return json_build_object('plan', iam.plan_document(_plan), 'changes', coalesce(_changed, '{}'));
end;
$$;

comment on function svc_api.operator_set_plan(text, jsonb) is 'Changes or creates a plan; for the operator only.';
