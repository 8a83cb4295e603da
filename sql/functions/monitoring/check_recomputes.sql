-- RECOMPUTES_GIVEN_UP if recomputes were given up after repeated failures, with ten of them; else null. Not reported are those whose
-- customers a later one recomputed, those that were cancelled, and dry runs, previews and backtests, which leave nothing behind. Checks the
-- latest thousand.
-- Raises nothing, locks nothing.
create or replace function svc.check_recomputes(environment_id integer, environment_name text)
returns json
language sql
stable
set search_path = ''
as $$
  with latest as materialized (
    select k.recompute_id, k.recompute_seq, k.customer_id, k.kind, k.status, k.failures, k.customers_total, k.customers_done, k.error,
      k.finished_at
    from svc.recomputes as k
    where k.environment_id = check_recomputes.environment_id
    order by k.recompute_seq desc
    limit 1000
  ),
  given_up as (
    select l.*, row_number() over (order by l.recompute_seq desc) as turn
    from latest as l
    where l.kind = 'recompute' and l.status = 'dead_letter' and l.failures > 0
      and not exists (
        select from latest as later
        where later.kind = 'recompute' and later.status = 'completed' and later.recompute_seq > l.recompute_seq
          and (later.customer_id is null or later.customer_id = l.customer_id)
      )
  )
  select svc.finding(
    'RECOMPUTES_GIVEN_UP',
    'problem',
    svc.count_text(count(*), 'recompute was', 'recomputes were')
      || ' given up after failing too often: customers that were not reached are unchanged.',
    format(
      'See why: svc recompute status <recompute> --env %1$s. Once the cause is fixed, resume it: '
      'svc recompute retry <recompute> --env %1$s',
      check_recomputes.environment_name
    ),
    count(*),
    json_build_object('recomputes', json_agg(
      json_build_object(
        'recomputeId', g.recompute_id, 'finishedAt', svc.iso(g.finished_at), 'customersDone', g.customers_done,
        'customersTotal', g.customers_total, 'error', g.error
      )
      order by g.turn
    ) filter (where g.turn <= 10))
  )
  from given_up as g
  having count(*) > 0;
$$;

comment on function svc.check_recomputes(integer, text) is 'Diagnostics: recomputes that were given up.';
