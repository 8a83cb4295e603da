-- EVENTS_UNDECLARED if events were accepted in the last 30 days whose names the active version does not declare, with up to 50 of them; for
-- a version with a strict schema, only since its activation. Names are looked up one by one, up to 1,000; else null. Which event of a name
-- came last is looked up among the hundred that occurred last: one dated far in the future would otherwise hide all that come after it.
-- Raises nothing, locks nothing.
create or replace function svc.check_undeclared_events(environment_id integer, project_id integer, active_version integer)
returns json
language plpgsql
stable
set search_path = ''
as $$
declare
  _declared constant text[] := array(
    select c.event
    from svc.payload_checks as c
    where c.project_id = check_undeclared_events.project_id and c.version = check_undeclared_events.active_version
  );
  _strict_since constant timestamptz := (
    select max(a.activated_at)
    from svc.config_versions as v
    join svc.config_activations as a on a.environment_id = check_undeclared_events.environment_id
    where v.project_id = check_undeclared_events.project_id and v.version = check_undeclared_events.active_version and v.strict_schema
  );
begin
  return (
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
    undeclared as (
      select n.event, l.event_seq, l.occurred_at, l.accepted_at
      from name as n
      cross join lateral (
        select k.event_seq, k.occurred_at, k.accepted_at
        from (
          select e.event_seq, e.occurred_at, e.accepted_at
          from svc.events as e
          where e.environment_id = check_undeclared_events.environment_id and e.event <> '' and e.event = n.event
          order by e.occurred_at desc, e.event_seq desc
          limit 100
        ) as k
        order by k.event_seq desc
        limit 1
      ) as l
      where l.accepted_at > now() - interval '30 days'
        and (_strict_since is null or l.accepted_at > _strict_since)
        and check_undeclared_events.active_version is not null
        and n.event <> all(_declared)
    )
    select svc.finding(
      'EVENTS_UNDECLARED',
      'warning',
      format(
        'Events of %s came in that the active version v%s does not declare; nothing is derived from them.',
        svc.count_text(count(*), 'name', 'names'), check_undeclared_events.active_version
      ),
      'Correct the name in the sender, or declare the event in the model and deploy it.',
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
    having count(*) > 0
  );
end;
$$;

comment on function svc.check_undeclared_events(integer, integer, integer) is
  'Diagnostics: accepted events that are not in the schema.';
