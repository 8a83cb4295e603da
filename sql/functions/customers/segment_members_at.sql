-- A page of the members of a segment at an instant, and since when, as in svc.memberships_at: those after a customer's id, in the
-- order of their ids. Each half stops as soon as it has row_limit rows, which a filter over svc.memberships_at would not.
-- Raises nothing, locks nothing.
create or replace function svc.segment_members_at(
  environment_id integer, segment_id text, at timestamptz, after_customer_id text, row_limit integer
)
returns table (customer_id text, entered_at timestamptz)
language sql
stable
set search_path = ''
-- Force look-ups by key and in its order, whatever the statistics say.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
  (
    select m.customer_id, m.entered_at
    from svc.segment_memberships as m
    where m.environment_id = segment_members_at.environment_id
      and m.segment_id = segment_members_at.segment_id
      and m.customer_id > segment_members_at.after_customer_id
      and m.entered_at <= segment_members_at.at
      and (m.exited_at is null or m.exited_at > segment_members_at.at)
    order by m.customer_id
    limit segment_members_at.row_limit
  )
  union all
  (
    select m.customer_id, t.emitted_at
    from svc.segment_memberships as m
    cross join lateral (
      select e.event_type, e.emitted_at
      from svc.emissions as e
      where e.environment_id = segment_members_at.environment_id
        and e.customer_id = m.customer_id
        and e.source = 'segment'
        and e.metadata ->> 'segment' = m.segment_id
        and e.emitted_at <= segment_members_at.at
      order by e.emitted_at desc, e.emission_seq desc
      limit 1
    ) as t
    where m.environment_id = segment_members_at.environment_id
      and m.segment_id = segment_members_at.segment_id
      and m.customer_id > segment_members_at.after_customer_id
      and m.entered_at > segment_members_at.at
      and t.event_type = 'segment.entered'
      and exists (
        select 1
        from svc.emissions as e
        where e.environment_id = segment_members_at.environment_id
          and e.customer_id = m.customer_id
          and e.event_type = 'segment.exited'
          and e.source = 'segment'
          and e.metadata ->> 'segment' = m.segment_id
          and e.emitted_at > segment_members_at.at
          and e.emitted_at <= m.entered_at
      )
    order by m.customer_id
    limit segment_members_at.row_limit
  )
$$;

comment on function svc.segment_members_at(integer, text, timestamptz, text, integer) is
  'A page of the members of a segment at an instant.';
