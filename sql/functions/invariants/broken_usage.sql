-- Differences between the month's usage and what was stored. The first call of a month moves its key to that month, so only the keys of an
-- environment that have reached the latest month count. Retention may have removed calls of that month, at most as many as it counted.
-- Raises nothing, locks nothing.
create or replace function svc.broken_usage()
returns table (invariant text, environment_id integer, example text)
language sql
stable
set search_path = ''
as $$
  with months as (
    select k.environment_id, u.month, sum(u.month_events) as events, max(u.month) over (partition by k.environment_id) as latest
    from svc.api_keys as k
    join svc.key_usage as u on u.key_hash = k.key_hash
    group by k.environment_id, u.month
  ),
  used as (
    select
      m.environment_id, m.month, m.events, m.month::timestamp at time zone 'UTC' as begins_at,
      (m.month + interval '1 month') at time zone 'UTC' as ends_at
    from months as m
    where m.month = m.latest
  ),
  counted as (
    select u.environment_id, u.month, u.begins_at, u.events, coalesce(sum(b.tracked), 0) as stored
    from used as u
    left join svc.ingest_batches as b
      on b.environment_id = u.environment_id and b.accepted_at >= u.begins_at and b.accepted_at < u.ends_at
    group by u.environment_id, u.month, u.begins_at, u.events
  )
  select
    'usage_is_what_was_stored', c.environment_id,
    format('in %s the keys count %s events; %s were stored', to_char(c.month, 'YYYY-MM'), c.events, c.stored)
  from counted as c
  left join svc.retention as r on r.environment_id = c.environment_id
  where c.stored > c.events
    or (c.stored < c.events and (r.last_removed_at >= c.begins_at and c.events - c.stored <= r.batch_events_removed) is not true)
  union all
  select 'keys_have_a_usage', k.environment_id, format('the API key %s', k.api_key_id)
  from svc.api_keys as k
  left join svc.key_usage as u on u.key_hash = k.key_hash
  where u.key_hash is null
$$;

comment on function svc.broken_usage() is 'Invariants: the usage that is compared with quotas.';
