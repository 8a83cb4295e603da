-- Differences between the engine's state and the tables of a customer's segments, signals and journeys, or the time of its next timer, and
-- rows of customers that do not exist: all of them are written, and erased, while the customer's row is locked. What cannot be read of a
-- state is reported, and the rest is compared.
-- Raises nothing, locks nothing.
create or replace function svc.broken_parts()
returns table (invariant text, environment_id integer, example text)
language sql
stable
set search_path = ''
as $$
  with stored as materialized (
    select
      c.environment_id, c.customer_id, c.next_due_at, json_typeof(c.state) as form, s.segments, s.signals, s.journeys, s.times,
      -- The list is that of src/engine/state/stored.ts; the member names are those of states stored before.
      coalesce(s.times -> 3, s."timerDueAt") as timer
    from svc.customers as c
    cross join lateral json_to_record(case when json_typeof(c.state) = 'object' then c.state end)
      as s (segments json, signals json, journeys json, times json, "timerDueAt" json)
  ),
  states as (
    select
      s.environment_id, s.customer_id, s.next_due_at,
      case when json_typeof(s.segments) = 'object' then s.segments end as segments,
      case when json_typeof(s.signals) = 'object' then s.signals end as signals,
      case when json_typeof(s.journeys) = 'object' then s.journeys end as journeys,
      case when s.timer #>> '{}' ~ '^(\d{1,15}|-\d{1,14})$'
        then timestamptz 'epoch' + (s.timer #>> '{}')::bigint * interval '1 millisecond'
      end as timer_due_at
    from stored as s
  ),
  unreadable as (
    select s.environment_id, s.customer_id, p.place, p.form
    from stored as s
    cross join lateral (
      values
        ('state', s.form, s.form = 'object'),
        ('segments in the state', json_typeof(s.segments), json_typeof(s.segments) = 'object'),
        ('signals in the state', json_typeof(s.signals), json_typeof(s.signals) = 'object'),
        ('journeys in the state', json_typeof(s.journeys), json_typeof(s.journeys) = 'object'),
        ('times in the state', json_typeof(s.times), json_typeof(s.times) = 'array'),
        ('timerDueAt in the state', json_typeof(s.timer), s.timer #>> '{}' ~ '^(\d{1,15}|-\d{1,14})$')
    ) as p (place, form, is_known)
    where p.form <> 'null' and not p.is_known
  ),
  told as (
    select s.environment_id, s.customer_id, 'segment' as kind, p.key as part_id, 'entered' as stands
    from states as s
    cross join lateral json_object_keys(s.segments) as p (key)
    union all
    select s.environment_id, s.customer_id, 'signal', p.key, 'raised'
    from states as s
    cross join lateral json_object_keys(s.signals) as p (key)
    union all
    select
      s.environment_id, s.customer_id, 'journey', p.key,
      format('run %s %s', coalesce(p.value ->> 0, p.value ->> 'run'), coalesce(p.value ->> 1, p.value ->> 'status'))
    from states as s
    cross join lateral json_each(s.journeys) as p (key, value)
  ),
  shown as (
    select m.environment_id, m.customer_id, 'segment' as kind, m.segment_id as part_id, 'entered' as stands
    from svc.segment_memberships as m
    where m.exited_at is null
    union all
    select s.environment_id, s.customer_id, 'signal', s.signal_id, 'raised'
    from svc.signals as s
    where s.cleared_at is null
    union all
    (
      select distinct on (j.environment_id, j.customer_id, j.journey_id)
        j.environment_id, j.customer_id, 'journey', j.journey_id, format('run %s %s', j.run, j.status)
      from svc.journey_runs as j
      order by j.environment_id, j.customer_id, j.journey_id, j.run desc
    )
  ),
  named as (
    select 'svc.lifecycle_transitions' as kind, t.environment_id, t.customer_id from svc.lifecycle_transitions as t
    union
    select 'svc.blocked_transitions', b.environment_id, b.customer_id from svc.blocked_transitions as b
    union
    select 'svc.segment_memberships', m.environment_id, m.customer_id from svc.segment_memberships as m
    union
    select 'svc.journey_runs', j.environment_id, j.customer_id from svc.journey_runs as j
    union
    select 'svc.health_scores', h.environment_id, h.customer_id from svc.health_scores as h
    union
    select 'svc.rule_executions', x.environment_id, x.customer_id from svc.rule_executions as x
    union
    select 'svc.signals', s.environment_id, s.customer_id from svc.signals as s
    union
    select 'svc.superseded_logs', l.environment_id, l.customer_id from svc.superseded_logs as l
    union
    select 'svc.emissions', m.environment_id, m.customer_id from svc.emissions as m
    union
    select 'svc.recompute_customers', r.environment_id, r.customer_id from svc.recompute_customers as r
  )
  select 'rows_belong_to_a_customer', n.environment_id, format('%s has rows of "%s", who does not exist', n.kind, n.customer_id)
  from named as n
  left join svc.customers as c on c.environment_id = n.environment_id and c.customer_id = n.customer_id
  where c.customer_id is null
  union all
  select
    'tables_show_what_the_state_says', c.environment_id,
    format(
      'the customer "%s", %s "%s": %s by the state, %s by the table', c.customer_id, c.kind, c.part_id,
      coalesce(c.told, 'nothing'), coalesce(c.shown, 'nothing')
    )
  from (
    select environment_id, customer_id, kind, part_id, t.stands as told, s.stands as shown
    from told as t
    full join shown as s using (environment_id, customer_id, kind, part_id)
  ) as c
  -- Customers that do not exist are reported above.
  join svc.customers as k on k.environment_id = c.environment_id and k.customer_id = c.customer_id
  where c.told is distinct from c.shown
  union all
  select
    'tables_show_what_the_state_says', s.environment_id,
    format(
      'the customer "%s", timers: due at %s by the state, %s by the table', s.customer_id, svc.iso(s.timer_due_at),
      coalesce('at ' || svc.iso(s.next_due_at), 'never')
    )
  from states as s
  -- It may be earlier, because of an event in the future.
  where (s.next_due_at < s.timer_due_at + interval '1 millisecond') is not true and s.timer_due_at is not null
  union all
  select
    'tables_show_what_the_state_says', u.environment_id,
    format('the customer "%s", %s: a JSON %s, which cannot be read', u.customer_id, u.place, u.form)
  from unreadable as u
  union all
  select
    'tables_show_what_the_state_says', c.environment_id,
    format('the customer "%s", evaluated: nothing by the state, up to %s by the table', c.customer_id, svc.iso(c.evaluated_through))
  from svc.customers as c
  where c.state is null and c.evaluated_through is not null
  union all
  select
    'journeys_have_one_run_at_a_time', j.environment_id,
    format('the journey "%s" of the customer "%s" has %s active runs', j.journey_id, j.customer_id, count(*))
  from svc.journey_runs as j
  where j.status = 'active'
  group by j.environment_id, j.customer_id, j.journey_id
  having count(*) > 1
$$;

comment on function svc.broken_parts() is 'Invariants: the parts of a customer.';
