create or replace view svc_inspect.customer_states as
select p.slug as project, e.name as environment, c.customer_id,
  -- Same shape as svc.state_document.
  json_build_object(
    'customerId', c.customer_id,
    'environment', e.name,
    'createdAt', svc.iso(c.created_at),
    'lastEventAt', svc.iso(c.last_event_at),
    'evaluatedThrough', svc.iso(c.evaluated_through),
    'configVersion', 'v' || c.config_version,
    'traits', (
      select coalesce(json_object_agg(t.key, t.value order by t.key collate "C"), '{}')
      from jsonb_each(c.traits) as t
    ),
    'lifecycle', c.lifecycle,
    'lifecycleEnteredAt', svc.iso(c.lifecycle_entered_at),
    'segments', (
      select coalesce(json_agg(m.segment_id order by m.segment_id collate "C"), '[]')
      from svc.segment_memberships as m
      where m.environment_id = c.environment_id and m.customer_id = c.customer_id and m.exited_at is null
    ),
    'health', c.health,
    'journeys', (
      select coalesce(json_agg(svc.journey_item(j.journey_id, j.status, j.current_step, j.steps, j.started_at, j.completed_at, j.expired_at)
        order by j.journey_id collate "C"), '[]')
      from svc.journey_runs as j
      where j.environment_id = c.environment_id
        and j.customer_id = c.customer_id
        and not exists (
          select 1
          from svc.journey_runs as l
          where l.environment_id = j.environment_id
            and l.customer_id = j.customer_id
            and l.journey_id = j.journey_id
            and l.run > j.run
        )
    ),
    'signals', (
      select coalesce(json_agg(svc.signal_item(s.signal_id, s.severity, s.message, s.raised_at) order by s.signal_id collate "C"), '[]')
      from svc.signals as s
      where s.environment_id = c.environment_id and s.customer_id = c.customer_id and s.cleared_at is null
    ),
    'nextDueAt', svc.iso(c.next_due_at)
  ) as state,
  o.slug as organization
from svc.customers as c
join svc.environments as e on e.environment_id = c.environment_id
join svc.projects as p on p.project_id = e.project_id
join iam.organizations as o on o.organization_id = p.organization_id;

comment on view svc_inspect.customer_states is 'The state document of every customer, as `svc customers inspect` shows it.';
comment on column svc_inspect.customer_states.project is 'Slug of the project.';
comment on column svc_inspect.customer_states.environment is 'test or live.';
comment on column svc_inspect.customer_states.customer_id is 'The customer''s id in the sender''s system.';
comment on column svc_inspect.customer_states.state is 'The state document.';
comment on column svc_inspect.customer_states.organization is 'Slug of the organization.';
