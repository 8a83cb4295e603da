-- The document of a plan: its limits, null for no limit, and how many organizations have it.
-- Raises nothing, locks nothing.
create or replace function iam.plan_document(plan iam.plans)
returns json
language sql
stable
set search_path = ''
return json_build_object(
  'plan', plan_document.plan.plan_id,
  'ratePerSecond', plan_document.plan.rate_per_second,
  'rateBurst', plan_document.plan.rate_burst,
  'monthlyEvents', plan_document.plan.monthly_events,
  'retentionDays', plan_document.plan.retention_days,
  'supersededDays', plan_document.plan.superseded_days,
  'cloudExecution', plan_document.plan.cloud_execution,
  'ai', plan_document.plan.ai,
  'stateBytes', plan_document.plan.state_bytes,
  'projects', plan_document.plan.projects,
  'members', plan_document.plan.members,
  'tokens', plan_document.plan.tokens,
  'versions', plan_document.plan.versions,
  'versionBytes', plan_document.plan.version_bytes,
  'keys', plan_document.plan.keys,
  'webhooks', plan_document.plan.webhooks,
  'recomputes', plan_document.plan.recomputes,
  'previews', plan_document.plan.previews,
  'changes', plan_document.plan.changes,
  'organizationCount', (select count(*) from iam.organizations as o where o.plan_id = plan_document.plan.plan_id)
);

comment on function iam.plan_document(iam.plans) is 'The document of a plan.';
