-- Events accepted after a position, in the order of acceptance, filtered by customer and event name: {events: [[id, item as text], …],
-- position, more}. position is where to continue; more means without waiting. A page reads at most 5,000 events and ends with the one that
-- fills 1 MiB. Without a position it answers no events and the current end; a position beyond the end is taken for the end.
-- Numbers are assigned before the commit, so a higher one may become visible first. The lock of a call gives a number below its own; what
-- lies beyond the lowest of those in progress is left for the next page. So no event is missed, and none comes twice.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND. Locks nothing.
create or replace function svc_api.stream_events(
  token_hash bytea, organization_id text, project_slug text, environment_name text,
  customer_id text, event text, after bigint, row_limit integer
)
returns json
language plpgsql
-- Not stable: what was committed before the locks were read must be visible to the next statement.
volatile
security definer
set search_path = ''
-- The plan is kept while the table grows.
set enable_seqscan = off
as $$
declare
  _environment constant record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'stream_events');
  _end bigint;
  _after bigint;
  _read_through bigint;
  _filled_through bigint;
  _events json;
begin
  _end := svc.accepted_through(_environment.environment_id);
  if stream_events.after is null then
    return json_build_object('events', '[]'::json, 'position', _end::text, 'more', false);
  end if;
  _after := least(stream_events.after, svc.issued_through(_environment.environment_id));
  _end := greatest(_end, _after);

  select e.event_seq into _read_through
  from svc.events as e
  where e.environment_id = _environment.environment_id and e.event_seq > _after and e.event_seq <= _end
  order by e.event_seq
  offset 4999
  limit 1;

  select
    coalesce(
      json_agg(json_build_array(svc.event_id(p.event_seq), p.item) order by p.event_seq) filter (where p.fits and p.item is not null),
      '[]'
    ),
    case when count(*) = stream_events.row_limit or not bool_and(p.fits) then max(p.event_seq) filter (where p.fits) end
  into _events, _filled_through
  from (
    select
      r.event_seq, i.item,
      coalesce(sum(octet_length(i.item)) over earlier, 0) < 1048576 as fits
    from (
      select e.event_seq
      from (
        select k.event_seq, k.customer_id, k.event
        from svc.events as k
        where k.environment_id = _environment.environment_id and k.event_seq > _after and k.event_seq <= coalesce(_read_through, _end)
        order by k.event_seq
        limit 5000
      ) as e
      where (stream_events.customer_id is null or e.customer_id = stream_events.customer_id)
        and (stream_events.event is null or e.event = stream_events.event)
      order by e.event_seq
      limit stream_events.row_limit
    ) as r
    cross join lateral (
      select svc.event_item(
        k.event_seq, k.customer_id, k.event, k.properties, k.occurred_at, k.accepted_at,
        exists (
          select 1
          from svc.inbox as w
          where w.environment_id = _environment.environment_id and w.customer_id = k.customer_id and w.seq = k.event_seq
        )
      )::text as item
      from svc.events as k
      where k.environment_id = _environment.environment_id and k.event_seq = r.event_seq
      limit 1
    ) as i
    window earlier as (order by r.event_seq rows between unbounded preceding and 1 preceding)
  ) as p;

  return json_build_object(
    'events', _events,
    'position', coalesce(_filled_through, _read_through, _end)::text,
    'more', coalesce(_filled_through, _read_through) is not null
  );
end;
$$;

comment on function svc_api.stream_events(bytea, text, text, text, text, text, bigint, integer) is
  'Events accepted after a position, in the order of acceptance.';
