-- The current states of customers of an environment, in the order of customer_ids; customers that do not exist are left out.
-- Segments, journeys and signals are ordered by the bytes of their ids. Each journey that ever started is shown with its current or last
-- run, with the completed steps in the author's order.
-- Raises nothing, locks nothing.
create or replace function svc.customer_states(environment_id integer, customer_ids text[])
returns table (
  n bigint, environment text, customer_id text, created_at timestamptz, last_event_at timestamptz, evaluated_through timestamptz,
  next_due_at timestamptz, config_version integer, traits jsonb, lifecycle text, lifecycle_entered_at timestamptz, segments json,
  health json, health_week_ago numeric, journeys json, signals json, set_aside_at timestamptz, set_aside_error text
)
language sql
stable
set search_path = ''
as $$
  select
    u.n, h.name, c.customer_id, c.created_at, c.last_event_at, c.evaluated_through, c.next_due_at, c.config_version, c.traits, c.lifecycle,
    c.lifecycle_entered_at,
    (
      select coalesce(json_agg(m.segment_id order by m.segment_id collate "C"), '[]')
      from svc.segment_memberships as m
      where m.environment_id = customer_states.environment_id and m.customer_id = u.customer_id and m.exited_at is null
    ),
    c.health,
    (
      select trim_scale(s.overall)
      from svc.health_scores as s
      where s.environment_id = customer_states.environment_id
        and s.customer_id = u.customer_id
        and s.generation = c.generation
        and s.scored_at <= now() - interval '7 days'
      order by s.score_seq desc
      limit 1
    ),
    (
      select coalesce(json_agg(svc.journey_item(j.journey_id, j.status, j.current_step, j.steps, j.started_at, j.completed_at, j.expired_at)
        order by j.journey_id collate "C"), '[]')
      from svc.journey_runs as j
      where j.environment_id = customer_states.environment_id
        and j.customer_id = u.customer_id
        and not exists (
          select 1
          from svc.journey_runs as l
          where l.environment_id = customer_states.environment_id
            and l.customer_id = u.customer_id
            and l.journey_id = j.journey_id
            and l.run > j.run
        )
    ),
    (
      select coalesce(json_agg(svc.signal_item(s.signal_id, s.severity, s.message, s.raised_at) order by s.signal_id collate "C"), '[]')
      from svc.signals as s
      where s.environment_id = customer_states.environment_id and s.customer_id = u.customer_id and s.cleared_at is null
    ),
    c.set_aside_at, c.set_aside_error
  from svc.homes as h
  cross join unnest(customer_states.customer_ids) with ordinality as u (customer_id, n)
  cross join lateral (
    select k.*
    from svc.customers as k
    where k.environment_id = customer_states.environment_id and k.customer_id = u.customer_id
    limit 1
  ) as c
  where h.environment_id = customer_states.environment_id
  order by u.n
$$;

comment on function svc.customer_states(integer, text[]) is 'The current states of customers.';
