-- The members of all segments at an instant, and since when, as far as is known today: from the current or last membership if it began
-- before or at that instant, else from the last emission about the segment up to then, if the emissions also have the end of that
-- membership. Where they do not, a recompute has moved it, and the record has where to.
-- Raises nothing, locks nothing.
create or replace function svc.memberships_at(environment_id integer, at timestamptz)
returns table (customer_id text, segment_id text, entered_at timestamptz)
language sql
stable
set search_path = ''
as $$
  select m.customer_id, m.segment_id, m.entered_at
  from svc.segment_memberships as m
  where m.environment_id = memberships_at.environment_id
    and m.entered_at <= memberships_at.at
    and (m.exited_at is null or m.exited_at > memberships_at.at)
  union all
  select m.customer_id, m.segment_id, t.emitted_at
  from svc.segment_memberships as m
  cross join lateral (
    select e.event_type, e.emitted_at
    from svc.emissions as e
    where e.environment_id = memberships_at.environment_id
      and e.customer_id = m.customer_id
      and e.source = 'segment'
      and e.metadata ->> 'segment' = m.segment_id
      and e.emitted_at <= memberships_at.at
    order by e.emitted_at desc, e.emission_seq desc
    limit 1
  ) as t
  where m.environment_id = memberships_at.environment_id
    and m.entered_at > memberships_at.at
    and t.event_type = 'segment.entered'
    and exists (
      select 1
      from svc.emissions as e
      where e.environment_id = memberships_at.environment_id
        and e.customer_id = m.customer_id
        and e.event_type = 'segment.exited'
        and e.source = 'segment'
        and e.metadata ->> 'segment' = m.segment_id
        and e.emitted_at > memberships_at.at
        and e.emitted_at <= m.entered_at
    )
$$;

comment on function svc.memberships_at(integer, timestamptz) is 'The members of all segments at an instant, and since when.';
