-- The next evaluated events of a customer after a position in their order, as lists of the same length {seqs, at (ms), names, properties},
-- null if there are none; whether there are more; and the position of the last, to the microsecond. A page ends after row_limit events, or
-- when their properties as stored reach byte_limit: decompressed they are larger, but at most a hundredfold.
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
      'at', array_agg(svc.epoch_ms(p.occurred_at)) filter (where p.kept),
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
  'The next evaluated events of a customer after a position in their order.';
