-- RETENTION_TOO_SHORT if the plan keeps events for a number of days only and conditions of the active version look further back, with up to
-- 50 of these: a warning if a window is longer, info if they only ask for the whole history; else null. For a journey's step, that
-- is as long as the journey may take. A window with `previous` needs twice its length.
-- Raises nothing, locks nothing.
create or replace function svc.check_retention(environment_id integer, project_id integer, active_version integer)
returns json
language sql
stable
set search_path = ''
begin atomic
  with model as (
    select v.snapshot::jsonb as snapshot, svc.retention_days(check_retention.environment_id) as days
    from svc.config_versions as v
    where v.project_id = check_retention.project_id and v.version = check_retention.active_version
  ),
  part as (
    select
      1 as kind, format('lifecycle %s -> %s', s.state ->> 'name', t.transition ->> 'to') as name, t.transition as content, null as bound
    from model as m
    cross join lateral jsonb_path_query(m.snapshot, 'lax $.lifecycle.states[*]') as s (state)
    cross join lateral jsonb_path_query(s.state, 'lax $.transitions[*]') as t (transition)
    union all
    select 2, format('journey %s', j.journey ->> 'id'), j.journey -> 'start', null
    from model as m
    cross join lateral jsonb_path_query(m.snapshot, 'lax $.journeys[*]') as j (journey)
    union all
    select 3, format('journey %s, step %s', j.journey ->> 'id', s.step ->> 'id'), s.step, j.journey ->> 'expiresAfter'
    from model as m
    cross join lateral jsonb_path_query(m.snapshot, 'lax $.journeys[*]') as j (journey)
    cross join lateral jsonb_path_query(j.journey, 'lax $.steps[*]') as s (step)
    union all
    select 4, format('segment %s', s.segment ->> 'id'), s.segment, null
    from model as m
    cross join lateral jsonb_path_query(m.snapshot, 'lax $.segments[*]') as s (segment)
    union all
    select 5, format('health %s', c.component ->> 'id'), c.component -> 'score', null
    from model as m
    cross join lateral jsonb_path_query(m.snapshot, 'lax $.health.components[*]') as c (component)
    union all
    select 6, format('rule %s', r.rule ->> 'id'), r.rule -> 'when', null
    from model as m
    cross join lateral jsonb_path_query(m.snapshot, 'lax $.rules[*]') as r (rule)
    union all
    select 7, format('signal %s', s.signal ->> 'id'), s.signal -> 'when', null
    from model as m
    cross join lateral jsonb_path_query(m.snapshot, 'lax $.signals[*]') as s (signal)
  ),
  look as (
    select
      p.kind, p.name, c.condition ->> 'kind' as condition,
      coalesce(c.condition #>> '{of,event}', c.condition #>> '{first,event}') as event,
      coalesce(c.condition ->> 'within', case when c.condition ->> 'kind' <> 'daysSince' then p.bound end) as period,
      case when c.condition ? 'previous' then 2 else 1 end as windows
    from part as p
    cross join lateral jsonb_path_query(
      p.content,
      'strict $.** ? (@.kind == "count" || @.kind == "aggregate" || @.kind == "distinct" || @.kind == "latest"
        || @.kind == "latestExists" || @.kind == "daysSince" || @.kind == "sequence")',
      silent => true
    ) as c (condition)
  ),
  further as (
    select l.*, row_number() over (order by l.period is null, l.kind, l.name, l.event, l.condition) as turn
    from look as l
    cross join model as m
    where l.period is null
      or l.windows * left(l.period, -1)::bigint * case right(l.period, 1) when 'm' then 1 when 'h' then 60 when 'd' then 1440 else 10080 end
        > m.days * 1440::bigint
  )
  select svc.finding(
    'RETENTION_TOO_SHORT',
    case when count(f.period) > 0 then 'warning' else 'info' end,
    format(
      '%s further back than the %s that the plan keeps events.',
      svc.count_text(count(*), 'condition of the active version looks', 'conditions of the active version look'),
      svc.count_text(max(m.days), 'day', 'days')
    ),
    format(
      'Evaluation remembers most of what it has seen, but a recompute, and the first evaluation under another version, see only what is '
      'kept. Use windows of at most %sd, or ask the operator of this service for a plan that keeps events longer.',
      max(m.days)
    ),
    count(*),
    json_build_object(
      'retentionDays', max(m.days),
      'conditions', json_agg(
        json_build_object('part', f.name, 'kind', f.condition, 'event', f.event, 'window', f.period) order by f.turn
      ) filter (where f.turn <= 50)
    )
  )
  from further as f
  cross join model as m
  where m.days is not null
  having count(*) > 0;
end;

comment on function svc.check_retention(integer, integer, integer) is
  'Diagnostics: conditions that look further back than events are kept.';
