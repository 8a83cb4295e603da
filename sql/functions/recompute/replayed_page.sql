-- The next evaluated events of a customer after a place in their order, as lists of one length {seqs, at (ms), names, properties}, null
-- where there are none; whether there are more; and the place of the last, to the microsecond. A page ends after so many events, or where
-- their properties as stored have so many bytes: what is stored compressed is larger when it is read, but no more than a hundredfold.
-- Raises nothing, locks nothing.
create or replace function svc.replayed_page(
  environment_id integer, customer_id text, after_at timestamptz, after_seq bigint, property_events text[], row_limit integer,
  byte_limit bigint
)
returns table (events json, more boolean, last_at timestamptz, last_seq bigint)
language sql
stable
set search_path = ''
as $$
  select
    json_build_object(
      'seqs', array_agg(p.event_seq) filter (where p.kept),
      'at', array_agg(floor(extract(epoch from p.occurred_at) * 1000)::bigint) filter (where p.kept),
      'names', array_agg(p.event) filter (where p.kept),
      'properties', json_agg(p.properties) filter (where p.kept)
    ),
    coalesce(not bool_and(p.kept), false),
    max(p.occurred_at) filter (where p.kept),
    (array_agg(p.event_seq) filter (where p.kept))[count(*) filter (where p.kept)]
  from (
    select
      e.event_seq, e.event, e.occurred_at, e.properties,
      row_number() over earlier <= replayed_page.row_limit
        and coalesce(sum(pg_column_size(e.properties)) over earlier - pg_column_size(e.properties), 0) < replayed_page.byte_limit as kept
    from svc.replayed_events(
      replayed_page.environment_id, replayed_page.customer_id, replayed_page.after_at, replayed_page.after_seq,
      replayed_page.property_events, replayed_page.row_limit + 1
    ) as e
    window earlier as (order by e.occurred_at, e.event_seq rows between unbounded preceding and current row)
  ) as p;
$$;

comment on function svc.replayed_page(integer, text, timestamptz, bigint, text[], integer, bigint) is
  'The next evaluated events of a customer after a place in their order.';
