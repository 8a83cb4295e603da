-- CUSTOMERS_SET_ASIDE if customers are set aside, with ten of them, else null.
-- Raises nothing, locks nothing.
create or replace function svc.check_set_aside(environment_id integer, environment_name text)
returns json
language sql
stable
set search_path = ''
as $$
  select svc.finding(
    'CUSTOMERS_SET_ASIDE',
    'problem',
    svc.count_text(n.customers, 'customer is', 'customers are') || ' set aside because evaluation failed; their operations wait.',
    format(
      'See why: svc customers list --set-aside --env %1$s. Once the cause is fixed, release them: svc customers release --all --env %1$s',
      check_set_aside.environment_name
    ),
    n.customers,
    json_build_object('customers', (
      select json_agg(
        json_build_object('customerId', c.customer_id, 'at', svc.iso(c.set_aside_at), 'error', c.set_aside_error) order by c.customer_id
      )
      from (
        select k.customer_id, k.set_aside_at, k.set_aside_error
        from svc.customers as k
        where k.environment_id = check_set_aside.environment_id and k.set_aside_at is not null
        order by k.customer_id
        limit 10
      ) as c
    ))
  )
  from (
    select count(*) as customers
    from (
      select from svc.customers as k
      where k.environment_id = check_set_aside.environment_id and k.set_aside_at is not null
      limit 10001
    ) as c
  ) as n
  where n.customers > 0;
$$;

comment on function svc.check_set_aside(integer, text) is 'Diagnostics: customers whose evaluation was given up.';
