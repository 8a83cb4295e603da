-- Accepted events, newest occurrence first, filtered by customer, event name, status (processed or pending) and an earliest time of
-- occurrence. Null filters do not filter. A page reads at most 2,000 events: if too few of them pass the filters, it is short or even
-- empty, and nextCursor continues the list.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND, SV006 VALIDATION_ERROR (cursor). Locks nothing.
create or replace function svc_api.list_events(
  token_hash bytea, organization_id text, project_slug text, environment_name text,
  customer_id text, event text, status text, since timestamptz, row_limit integer, "cursor" text
)
returns json
language plpgsql
stable
security definer
set search_path = ''
-- Pending events are few among many, which the planner does not expect.
set enable_seqscan = off
as $$
declare
  _environment constant record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'list_events');
  _after constant text[] :=
    string_to_array(svc.decode_cursor('events', list_events.cursor, '^([0-9]{1,18}|-[0-9]{1,17}) [0-9]{1,18}$'), ' ');
  _after_at constant timestamptz := svc.instant_of(_after[1]::bigint);
  _after_seq constant bigint := _after[2]::bigint;
  _newest_first constant text := ' order by e.occurred_at desc, e.event_seq desc ';
  _from_inbox boolean := false;
  _source text;
  _filter text;
  _items json[];
  _positions text[];
  _resume text;
begin
  if list_events.status = 'pending' then
    -- Usually few operations wait, and then the inbox leads to them; if there is a backlog, the events are read in the list's order.
    select count(*) <= 2000 into _from_inbox
    from (
      select 1 from svc.inbox as i
      where i.environment_id = _environment.environment_id
        and (list_events.customer_id is null or i.customer_id = list_events.customer_id)
      limit 2001
    ) as w;
  end if;

  -- The statements contain only the filters in use, so that each combination gets its own plan. The source is read in order; the filter is
  -- checked for each of its rows, by key, laterally with a limit, so that no plan can turn it into a join.
  _source := concat(
    case
      when _from_inbox then $sql$
        from svc.inbox as i
        cross join lateral (
          select k.* from svc.events as k where k.environment_id = $1 and k.event_seq = i.seq limit 1
        ) as e
        where i.environment_id = $1
      $sql$
      else ' from svc.events as e where e.environment_id = $1 '
    end,
    case
      when list_events.customer_id is not null then concat(' and ', case when _from_inbox then 'i' else 'e' end, '.customer_id = $2 ')
      when list_events.event is not null then $sql$ and e.event = $3 and e.event <> '' $sql$
      else ' and e.event_seq >= 0 '
    end,
    case when list_events.since is not null then ' and e.occurred_at >= $4 ' end,
    case when _after is not null then ' and (e.occurred_at, e.event_seq) < ($5, $6) ' end
  );
  _filter := concat(
    case when list_events.customer_id is not null and list_events.event is not null then ' and e.event = $3 ' end,
    case
      when _from_inbox then null
      when list_events.status = 'processed' then ' and w.waits is null '
      when list_events.status = 'pending' then ' and w.waits '
    end
  );

  execute concat(
    $sql$
      select
        array_agg(i.item order by r.occurred_at desc, r.event_seq desc),
        array_agg(concat(svc.microseconds(r.occurred_at), ' ', r.event_seq) order by r.occurred_at desc, r.event_seq desc)
      from (
        select e.occurred_at, e.event_seq
        from (select e.occurred_at, e.event_seq, e.customer_id, e.event $sql$, _source, _newest_first, $sql$ limit 2000) as e
        left join lateral (
          select true as waits
          from svc.inbox as i
          where i.environment_id = $1 and i.customer_id = e.customer_id and i.seq = e.event_seq
          limit 1
        ) as w on true
        where true $sql$, _filter, _newest_first, $sql$
        limit $7 + 1
      ) as r
      cross join lateral (
        select svc.event_item(
          k.event_seq, k.customer_id, k.event, k.properties, k.occurred_at, k.accepted_at,
          exists (
            select 1 from svc.inbox as w where w.environment_id = $1 and w.customer_id = k.customer_id and w.seq = k.event_seq
          )
        ) as item
        from svc.events as k
        where k.environment_id = $1 and k.event_seq = r.event_seq
        limit 1
      ) as i
    $sql$
  )
  into _items, _positions
  using
    _environment.environment_id, list_events.customer_id, list_events.event, list_events.since, _after_at, _after_seq,
    list_events.row_limit;

  if _filter <> '' and not _from_inbox and coalesce(cardinality(_items), 0) <= list_events.row_limit then
    execute concat(
      $sql$ select concat(svc.microseconds(e.occurred_at), ' ', e.event_seq) $sql$, _source, _newest_first, 'offset 1999 limit 1'
    )
    into _resume
    using _environment.environment_id, list_events.customer_id, list_events.event, list_events.since, _after_at, _after_seq;
  end if;
  return svc.partial_page('events', _items, _positions, list_events.row_limit, _resume);
end;
$$;

comment on function svc_api.list_events(bytea, text, text, text, text, text, text, timestamptz, integer, text) is
  'Accepted events, newest occurrence first, filtered.';
