create or replace view svc_inspect.superseded_records as
select
  o.slug as organization, p.slug as project, e.name as environment, c.customer_id, r.kind, r.at, r.generation, l.superseded_at, r.record
from svc.customers as c
cross join lateral (
  select
    'transition' as kind, t.transitioned_at as at, t.generation,
    json_build_object('from', t.from_state, 'to', t.to_state, 'causeType', t.cause_type, 'configVersion', 'v' || t.config_version) as record
  from svc.lifecycle_transitions as t
  where t.environment_id = c.environment_id and t.customer_id = c.customer_id and t.generation < c.generation
  union all
  select
    'score', h.scored_at, h.generation,
    json_build_object(
      'overall', trim_scale(h.overall), 'components', h.components, 'band', h.band, 'causeType', h.cause_type,
      'configVersion', 'v' || h.config_version
    )
  from svc.health_scores as h
  where h.environment_id = c.environment_id and h.customer_id = c.customer_id and h.generation < c.generation
  union all
  select
    'run', x.executed_at, x.generation,
    json_build_object(
      'rule', x.rule_id, 'result', x.result, 'triggeredBy', x.triggered_by, 'causeType', x.cause_type,
      'configVersion', 'v' || x.config_version,
      'emission', svc.emission_id(x.emission_seq)
    )
  from svc.rule_executions as x
  where x.environment_id = c.environment_id and x.customer_id = c.customer_id and x.generation < c.generation
) as r
left join svc.superseded_logs as l
  on l.environment_id = c.environment_id and l.customer_id = c.customer_id and l.generation = r.generation + 1
join svc.environments as e on e.environment_id = c.environment_id
join svc.projects as p on p.project_id = e.project_id
join iam.organizations as o on o.organization_id = p.organization_id;

comment on view svc_inspect.superseded_records is
  'Records of customers that recomputes have replaced, as far as they are kept. Query single customers.';
comment on column svc_inspect.superseded_records.organization is 'Slug of the organization.';
comment on column svc_inspect.superseded_records.project is 'Slug of the project.';
comment on column svc_inspect.superseded_records.environment is 'test or live.';
comment on column svc_inspect.superseded_records.customer_id is 'The customer.';
comment on column svc_inspect.superseded_records.kind is 'transition, score or run (a rule execution).';
comment on column svc_inspect.superseded_records.at is 'The instant that the record refers to.';
comment on column svc_inspect.superseded_records.generation is
  'Number of recomputes that had rewritten the history before: 0 for live evaluation.';
comment on column svc_inspect.superseded_records.superseded_at is
  'When a recompute replaced it; null for runs that are kept only because of what they emitted.';
comment on column svc_inspect.superseded_records.record is 'The record itself.';
