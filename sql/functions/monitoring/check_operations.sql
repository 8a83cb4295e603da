-- OPERATIONS_WAITING if an operation that could be evaluated has waited for ten seconds, a problem after a minute; else null.
-- Raises nothing, locks nothing.
create or replace function svc.check_operations(environment_id integer)
returns json
language sql
stable
set search_path = ''
as $$
  select svc.finding(
    'OPERATIONS_WAITING',
    case when o.waited >= interval '1 minute' then 'problem' else 'warning' end,
    format(
      '%s to be evaluated, the oldest for %s.',
      svc.count_text(n.operations, 'operation waits', 'operations wait'),
      svc.count_text(floor(extract(epoch from o.waited))::bigint, 'second', 'seconds')
    ),
    'After a large import this takes its time. If the number does not fall, check that a worker runs: GET /readyz of the service says so.',
    n.operations,
    json_build_object('oldestAcceptedAt', svc.iso(o.accepted_at), 'seconds', floor(extract(epoch from o.waited))::bigint)
  )
  from (
    select b.accepted_at, now() - b.accepted_at as waited
    from (
      select min(f.seq) as seq
      from (values (false), (true)) as l (late)
      cross join lateral (
        select k.seq
        from svc.inbox as k
        where k.environment_id = check_operations.environment_id and k.late = l.late and k.not_before is null
        order by k.seq
        limit 1
      ) as f
    ) as i
    cross join lateral (
      select k.accepted_at
      from svc.ingest_batches as k
      where k.environment_id = check_operations.environment_id and k.batch_seq = i.seq / 1024
      limit 1
    ) as b
  ) as o
  cross join lateral (
    select count(*) as operations
    from (
      select from svc.inbox as k
      where k.environment_id = check_operations.environment_id and k.not_before is null
      limit 10001
    ) as i
  ) as n
  where o.waited >= interval '10 seconds';
$$;

comment on function svc.check_operations(integer) is 'Diagnostics: operations that wait for evaluation.';
