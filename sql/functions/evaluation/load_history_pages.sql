-- Pages of customers' evaluated events, as requested by the engine: for each request the first page of its answer, and whether it is
-- complete.
-- A request is {customerId, event, after: {occurredAt, seq}, until: {occurredAt, seq} or null}, instants in milliseconds; an event of the
-- answer is [seq, occurred (ms), properties], in order of occurrence and acceptance.
-- A page ends after page_size events, or when their properties exceed 1.6 kB times page_size, but has at least one; it then extends to the
-- end of its last millisecond, because within one the index is ordered by microseconds and the answer by acceptance.
-- Raises nothing, locks nothing.
create or replace function svc_api.load_history_pages(environment_id integer, requests json, page_size integer)
returns table (request integer, events json, complete boolean)
language sql
stable
security definer
set search_path = ''
-- Force look-ups by key, whatever the statistics say, as in begin_chunk.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
  select r.request, coalesce(a.list, '[]'), a.complete
  from (
    select
      q.ordinality::integer as request, q."customerId" as customer_id, q.event,
      coalesce(timestamptz 'epoch' + (q.after ->> 'occurredAt')::bigint * interval '1 millisecond', '-infinity') as after_at,
      coalesce((q.after ->> 'seq')::bigint, 0) as after_seq,
      coalesce(timestamptz 'epoch' + (q.until ->> 'occurredAt')::bigint * interval '1 millisecond', 'infinity') as until_at,
      coalesce((q.until ->> 'seq')::bigint, 0) as until_seq
    from rows from (
      json_to_recordset(load_history_pages.requests) as ("customerId" text, event text, after json, until json)
    ) with ordinality as q
  ) as r
  cross join lateral (
    with next as materialized (
      select e.event_seq, e.occurred_at, e.properties
      from svc.events as e
      left join lateral (
        select true as waits
        from svc.inbox as i
        where i.environment_id = load_history_pages.environment_id and i.customer_id = r.customer_id and i.seq = e.event_seq
        limit 1
      ) as p on true
      where e.environment_id = load_history_pages.environment_id and e.customer_id = r.customer_id and e.event = r.event
        and e.occurred_at >= r.after_at and e.occurred_at < r.until_at + interval '1 millisecond'
        and p.waits is null
        and (date_trunc('milliseconds', e.occurred_at), e.event_seq) > (r.after_at, r.after_seq)
        and (date_trunc('milliseconds', e.occurred_at), e.event_seq) <= (r.until_at, r.until_seq)
      order by e.occurred_at, e.event_seq
      limit load_history_pages.page_size
    ),
    page as materialized (
      select m.event_seq, m.occurred_at, m.properties
      from (
        select n.*, coalesce(sum(svc.text_bytes(n.properties)) over earlier, 0) as bytes_before
        from (
          select k.*, coalesce(sum(pg_column_size(k.properties)) over earlier, 0) as stored_before
          from next as k
          window earlier as (order by k.occurred_at, k.event_seq rows between unbounded preceding and 1 preceding)
        ) as n
        -- Only what can be on the page is decompressed to be measured.
        where n.stored_before < 1600::bigint * load_history_pages.page_size
        window earlier as (order by n.occurred_at, n.event_seq rows between unbounded preceding and 1 preceding)
      ) as m
      where m.bytes_before < 1600::bigint * load_history_pages.page_size
    ),
    answer as (
      select p.taken = n.found and n.found < load_history_pages.page_size as complete
      from (select count(*) as found from next) as n, (select count(*) as taken from page) as p
    ),
    last as (
      select p.occurred_at, p.event_seq, date_trunc('milliseconds', p.occurred_at) as millisecond
      from page as p
      order by p.occurred_at desc, p.event_seq desc
      limit 1
    ),
    whole as (
      select p.event_seq, p.occurred_at, p.properties
      from page as p
      union all
      select e.event_seq, e.occurred_at, e.properties
      from last as l
      cross join lateral (
        select k.event_seq, k.occurred_at, k.properties
        from svc.events as k
        left join lateral (
          select true as waits
          from svc.inbox as i
          where i.environment_id = load_history_pages.environment_id and i.customer_id = r.customer_id and i.seq = k.event_seq
          limit 1
        ) as p on true
        where k.environment_id = load_history_pages.environment_id and k.customer_id = r.customer_id and k.event = r.event
          and k.occurred_at >= l.occurred_at and k.occurred_at < l.millisecond + interval '1 millisecond'
          and p.waits is null
        -- Keeps this a look-up by key, not a join.
        offset 0
      ) as e
      where not (select complete from answer)
        and (e.occurred_at, e.event_seq) > (l.occurred_at, l.event_seq)
        and (l.millisecond, e.event_seq) > (r.after_at, r.after_seq)
        and (l.millisecond, e.event_seq) <= (r.until_at, r.until_seq)
    )
    select
      (select complete from answer) as complete,
      json_agg(
        json_build_array(w.event_seq, svc.epoch_ms(w.occurred_at), w.properties)
        order by date_trunc('milliseconds', w.occurred_at), w.event_seq
      ) as list
    from whole as w
  ) as a;
$$;

comment on function svc_api.load_history_pages(integer, json, integer) is
  'Pages of evaluated events, one for each request of the engine.';
