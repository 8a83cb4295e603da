-- Chooses the filter by which a list of customers is read: segment, signal, lifecycle or set_aside, whichever matches the fewest, counted
-- up to 2,001; else all. is_small means that it matches at most 2,000 customers, so that all may be read and sorted.
-- Raises nothing, locks nothing.
create or replace function svc.narrowest_filter(
  environment_id integer, lifecycle text, segment text, signal text, set_aside boolean, out driver text, out is_small boolean
)
language sql
stable
set search_path = ''
as $$
  select
    d.driver,
    d.customers <= 2000
  from (
    select
      'segment' as driver,
      (
        select count(*)
        from (
          select from svc.segment_memberships as m
          where m.environment_id = narrowest_filter.environment_id
            and m.segment_id = narrowest_filter.segment
            and m.exited_at is null
          limit 2001
        ) as m
      ) as customers
    where narrowest_filter.segment is not null
    union all
    select
      'signal',
      (
        select count(*)
        from (
          select from svc.signals as g
          where g.environment_id = narrowest_filter.environment_id
            and g.signal_id = narrowest_filter.signal
            and g.cleared_at is null
          -- In the order of the index, so that it is used even if it covers most of the table.
          order by g.customer_id
          limit 2001
        ) as g
      )
    where narrowest_filter.signal is not null
    union all
    select
      'lifecycle',
      (
        select count(*)
        from (
          select from svc.customers as c
          where c.environment_id = narrowest_filter.environment_id and c.lifecycle = narrowest_filter.lifecycle
          limit 2001
        ) as c
      )
    where narrowest_filter.lifecycle is not null
    union all
    select
      'set_aside',
      (
        select count(*)
        from (
          select from svc.customers as c
          where c.environment_id = narrowest_filter.environment_id and c.set_aside_at is not null
          limit 2001
        ) as c
      )
    where narrowest_filter.set_aside
    union all
    select 'all', 2001
  ) as d
  -- Between equals, reading all customers comes last.
  order by d.customers, array_position(array['segment', 'signal', 'lifecycle', 'set_aside'], d.driver)
  limit 1;
$$;

comment on function svc.narrowest_filter(integer, text, text, text, boolean) is 'The filter by which a list of customers is read.';
