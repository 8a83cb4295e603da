-- Deliveries that are missing, refer to nothing or contradict their attempts. What a webhook wanted when an emission was written is known
-- since it was last enabled, changed or imported, according to the audit log. An evaluation may not have seen a concurrent change:
-- emissions within ten minutes after one are ignored, many times as long as a transaction of the service may take.
-- Raises nothing, locks nothing.
create or replace function svc.broken_deliveries()
returns table (invariant text, environment_id integer, example text)
language sql
stable
set search_path = ''
as $$
  with changed as (
    select e.environment_id, a.target as webhook_id, max(a.at) as at
    from iam.audit_log as a
    join svc.projects as p on p.organization_id = a.organization_id and p.slug = a.project
    join svc.environments as e on e.project_id = p.project_id and e.name = a.environment
    where a.action in ('webhook.updated', 'environment.imported')
    group by e.environment_id, a.target
  ),
  types as (
    select m.environment_id, m.event_type from svc.emissions as m group by m.environment_id, m.event_type
  ),
  wanted as (
    select
      w.environment_id, w.webhook_id, t.event_type, extract(epoch from w.max_event_age::interval) as age_max,
      greatest(w.created_at, w.active_since, c.at, i.at) + interval '10 minutes' as since
    from svc.webhooks as w
    join types as t on t.environment_id = w.environment_id
    left join changed as c on c.environment_id = w.environment_id and c.webhook_id = w.webhook_id
    left join changed as i on i.environment_id = w.environment_id and i.webhook_id is null
    where w.disabled_at is null and w.deleted_at is null
      and exists (
        select from unnest(w.event_types) as p (pattern)
        where svc.matches_type(t.event_type, p.pattern)
      )
  ),
  -- Emissions that a recompute has not fanned out yet are not due.
  ahead as (
    select r.environment_id, r.outbox_seq from svc.recomputes as r where r.outbox_seq is not null
  )
  select
    'webhooks_are_told_what_they_want', m.environment_id,
    format('the webhook %s has no delivery of %s (%s)', w.webhook_id, svc.emission_id(m.emission_seq), m.event_type)
  from svc.emissions as m
  join wanted as w on w.environment_id = m.environment_id and w.event_type = m.event_type
  left join svc.deliveries as d
    on d.environment_id = m.environment_id and d.webhook_id = w.webhook_id and d.emission_seq = m.emission_seq
  left join ahead as o on o.environment_id = m.environment_id and o.outbox_seq = m.emission_seq >> 16
  where m.created_at >= w.since
    and (w.age_max is null or extract(epoch from m.created_at - m.emitted_at) <= w.age_max)
    and d.emission_seq is null and o.outbox_seq is null
  union all
  select
    'deliveries_have_their_emission', d.environment_id,
    format('the webhook %s has a delivery of %s, which does not exist', d.webhook_id, svc.emission_id(d.emission_seq))
  from svc.deliveries as d
  left join svc.emissions as m on m.environment_id = d.environment_id and m.emission_seq = d.emission_seq
  where m.emission_seq is null
  union all
  select
    'bodies_have_their_delivery', b.environment_id,
    format('a body is kept of %s for the webhook %s, which has no such delivery', svc.emission_id(b.emission_seq), b.webhook_id)
  from svc.delivery_bodies as b
  left join svc.deliveries as d
    on d.environment_id = b.environment_id and d.webhook_id = b.webhook_id and d.emission_seq = b.emission_seq
  where d.emission_seq is null
  union all
  select
    'deliveries_are_those_of_their_attempts', d.environment_id,
    format('the delivery of %s to %s is %s after %s attempts', svc.emission_id(d.emission_seq), d.webhook_id, d.status, d.attempts)
  from svc.deliveries as d
  where (d.status <> 'pending' and d.attempts = 0) or d.resent_after > d.attempts
  union all
  select
    'deliveries_are_those_of_their_attempts', d.environment_id,
    format(
      'the delivery of %s to %s is delivered; its last attempt was %s', svc.emission_id(d.emission_seq), d.webhook_id,
      coalesce('answered ' || a.status_code, 'not answered')
    )
  from svc.deliveries as d
  join svc.delivery_attempts as a
    on a.environment_id = d.environment_id and a.webhook_id = d.webhook_id and a.emission_seq = d.emission_seq
    and a.attempt = d.attempts
  where d.status = 'delivered' and (a.status_code between 200 and 299) is not true
  union all
  select
    'deliveries_are_those_of_their_attempts', a.environment_id,
    format(
      'the attempt %s to deliver %s to %s has %s', a.attempt, svc.emission_id(a.emission_seq), a.webhook_id,
      case when d.attempts is null then 'no delivery' else format('a delivery of %s attempts', d.attempts) end
    )
  from svc.delivery_attempts as a
  left join svc.deliveries as d
    on d.environment_id = a.environment_id and d.webhook_id = a.webhook_id and d.emission_seq = a.emission_seq
  left join svc.webhooks as w on w.environment_id = a.environment_id and w.webhook_id = a.webhook_id
  -- Those of a deleted webhook are removed in batches.
  where (d.attempts >= a.attempt) is not true and w.deleted_at is null
$$;

comment on function svc.broken_deliveries() is 'Invariants: deliveries of webhooks.';
