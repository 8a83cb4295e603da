-- By which of its filters a list of customers is read: segment, lifecycle or set_aside, the one that passes the fewest, counted up to
-- 2,001; else inactive or all, which are orders. is_small says that it passes at most 2,000, so that they may all be read and sorted. An
-- order by inactivity is left for a small one only: the others come in the order of ids.
-- Raises nothing, locks nothing.
create or replace function svc.customer_driver(
  environment_id integer, lifecycle text, segment text, set_aside boolean, by_inactivity boolean, out driver text, out is_small boolean
)
language sql
stable
set search_path = ''
as $$
  select
    case when d.customers > 2000 and customer_driver.by_inactivity then 'inactive' else d.driver end,
    d.customers <= 2000
  from (
    select
      'segment' as driver,
      (
        select count(*)
        from (
          select from svc.segment_memberships as m
          where m.environment_id = customer_driver.environment_id
            and m.segment_id = customer_driver.segment
            and m.exited_at is null
          limit 2001
        ) as m
      ) as customers
    where customer_driver.segment is not null
    union all
    select
      'lifecycle',
      (
        select count(*)
        from (
          select from svc.customers as c
          where c.environment_id = customer_driver.environment_id and c.lifecycle = customer_driver.lifecycle
          limit 2001
        ) as c
      )
    where customer_driver.lifecycle is not null
    union all
    select
      'set_aside',
      (
        select count(*)
        from (
          select from svc.customers as c
          where c.environment_id = customer_driver.environment_id and c.set_aside_at is not null
          limit 2001
        ) as c
      )
    where customer_driver.set_aside
    union all
    select case when customer_driver.by_inactivity then 'inactive' else 'all' end, 2001
  ) as d
  -- Between equals what is no filter comes last.
  order by d.customers, array_position(array['segment', 'lifecycle', 'set_aside'], d.driver)
  limit 1;
$$;

comment on function svc.customer_driver(integer, text, text, boolean, boolean) is 'By which of its filters a list of customers is read.';
