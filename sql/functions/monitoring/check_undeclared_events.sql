-- EVENTS_UNDECLARED where events came in the last 30 days whose names the active version does not declare, with up to 50 of them; of a
-- version with a strict schema, since it is active. Names are looked for one by one, up to 1,000; else null.
-- Raises nothing, locks nothing.
create or replace function svc.check_undeclared_events(environment_id integer, project_id integer, active_version integer)
returns json
language sql
stable
set search_path = ''
begin atomic
  with recursive name as (
    (
      select e.event, 1 as n
      from svc.events as e
      where e.environment_id = check_undeclared_events.environment_id and e.event <> ''
      order by e.event
      limit 1
    )
    union all
    select x.event, p.n + 1
    from name as p
    cross join lateral (
      select e.event
      from svc.events as e
      where e.environment_id = check_undeclared_events.environment_id and e.event <> '' and e.event > p.event
      order by e.event
      limit 1
    ) as x
    where p.n < 1000
  ),
  active as (
    select v.strict_schema, (
      select a.activated_at
      from svc.config_activations as a
      where a.environment_id = check_undeclared_events.environment_id
      order by a.activation_seq desc
      limit 1
    ) as activated_at
    from svc.config_versions as v
    where v.project_id = check_undeclared_events.project_id and v.version = check_undeclared_events.active_version
  ),
  undeclared as (
    select n.event, l.event_seq, l.occurred_at, l.accepted_at
    from name as n
    cross join active as a
    cross join lateral (
      select e.event_seq, e.occurred_at, e.accepted_at
      from svc.events as e
      where e.environment_id = check_undeclared_events.environment_id and e.event <> '' and e.event = n.event
      order by e.occurred_at desc, e.event_seq desc
      limit 1
    ) as l
    where l.accepted_at > now() - interval '30 days'
      and (not a.strict_schema or l.accepted_at > a.activated_at)
      and not exists (
        select from svc.payload_checks as c
        where c.project_id = check_undeclared_events.project_id
          and c.version = check_undeclared_events.active_version
          and c.event = n.event
      )
  )
  select svc.finding(
    'EVENTS_UNDECLARED',
    'warning',
    svc.counted(count(*), 'event', 'events')
      || format(' came in whose name the active version v%s does not declare; nothing is derived of them.', max(v.version)),
    'Correct the name in what sends them, or declare the event in the model and deploy it.',
    count(*),
    json_build_object('events', json_agg(
      json_build_object(
        'event', u.event, 'lastEventId', svc.event_id(u.event_seq), 'lastOccurredAt', svc.iso(u.occurred_at),
        'lastAcceptedAt', svc.iso(u.accepted_at)
      )
      order by u.accepted_at desc, u.event
    ) filter (where u.turn <= 50))
  )
  from (select k.*, row_number() over (order by k.accepted_at desc, k.event) as turn from undeclared as k) as u
  cross join (select check_undeclared_events.active_version as version) as v
  having count(*) > 0;
end;

comment on function svc.check_undeclared_events(integer, integer, integer) is
  'Diagnostics: events that came in and are not in the schema.';
