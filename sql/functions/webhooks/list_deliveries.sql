-- The deliveries to one webhook, newest emission first, each with its last attempt; filtered by status, type and customer. Null filters do
-- not filter. A page reads at most 2,000 rows: if too few of them pass the filters, it is short or even empty, and nextCursor continues the
-- list.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND or WEBHOOK_NOT_FOUND, SV006 VALIDATION_ERROR (cursor). Locks nothing.
create or replace function svc_api.list_deliveries(
  token_hash bytea, organization_id text, project_slug text, environment_name text,
  webhook_id text, status text, event_type text, customer_id text, row_limit integer, "cursor" text
)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _environment constant record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'list_deliveries');
  _webhook constant svc.webhooks := svc.find_webhook(_environment.environment_id, list_deliveries.webhook_id);
  _before constant bigint := svc.decode_cursor('deliveries', list_deliveries.cursor, '^[0-9]{1,18}$')::bigint;
  _from_pending boolean := false;
  _source text;
  _seqs bigint[];
  _resume text;
begin
  if list_deliveries.status = 'pending' and list_deliveries.customer_id is null then
    -- Usually few deliveries wait, and then their index leads to them; if there is a backlog, they are read in the list's order.
    select count(*) <= 2000 into _from_pending
    from (
      select 1 from svc.deliveries as d
      where d.environment_id = _webhook.environment_id and d.webhook_id = _webhook.webhook_id and d.status = 'pending'
      limit 2001
    ) as w;
  end if;

  -- The statements contain only the filters in use, so that each combination gets its own plan. The source is read in order; the filter is
  -- checked for each of its rows, by key, laterally with a limit, so that no plan can turn it into a join.
  _source := concat(
    'select s.emission_seq from ',
    case
      when list_deliveries.customer_id is not null then 'svc.emissions as s where s.environment_id = $1 and s.customer_id = $5'
      when _from_pending then $sql$
        (
          select k.emission_seq from svc.deliveries as k
          where k.environment_id = $1 and k.webhook_id = $2 and k.status = 'pending'
          order by k.next_attempt_at, k.emission_seq
          limit 2000
        ) as s where true
      $sql$
      when list_deliveries.status = 'failed'
        then $sql$ svc.deliveries as s where s.environment_id = $1 and s.webhook_id = $2 and s.status = 'failed' $sql$
      else 'svc.deliveries as s where s.environment_id = $1 and s.webhook_id = $2'
    end,
    case when _before is not null then ' and s.emission_seq < $6 ' end,
    ' order by s.emission_seq desc '
  );

  execute concat(
    $sql$
      select coalesce(array_agg(r.emission_seq order by r.emission_seq desc), '{}')
      from (
        select s.emission_seq
        from ( $sql$, _source, $sql$ limit 2000) as s
        cross join lateral (
          select k.status from svc.deliveries as k
          where k.environment_id = $1 and k.webhook_id = $2 and k.emission_seq = s.emission_seq
          limit 1
        ) as d
        cross join lateral (
          select k.event_type from svc.emissions as k
          where k.environment_id = $1 and k.emission_seq = s.emission_seq
          limit 1
        ) as m
        where true
    $sql$,
    case when list_deliveries.status is not null then ' and d.status = $3 ' end,
    case when list_deliveries.event_type is not null then ' and m.event_type = $4 ' end,
    $sql$
        order by s.emission_seq desc
        limit $7 + 1
      ) as r
    $sql$
  )
  into _seqs
  using
    _webhook.environment_id, _webhook.webhook_id, list_deliveries.status, list_deliveries.event_type, list_deliveries.customer_id,
    _before, list_deliveries.row_limit;

  if cardinality(_seqs) <= list_deliveries.row_limit then
    execute concat('select s.emission_seq::text from (', _source, ' offset 1999 limit 1) as s')
    into _resume
    using
      _webhook.environment_id, _webhook.webhook_id, list_deliveries.status, list_deliveries.event_type, list_deliveries.customer_id,
      _before;
  end if;
  return svc.partial_page(
    'deliveries',
    array(
      select svc.delivery_item(_webhook.environment_id, _webhook.webhook_id, s.seq)
      from unnest(_seqs) with ordinality as s (seq, place)
      order by s.place
    ),
    _seqs::text[], list_deliveries.row_limit, _resume
  );
end;
$$;

comment on function svc_api.list_deliveries(bytea, text, text, text, text, text, text, text, integer, text) is
  'The deliveries to a webhook, newest first, each with its last attempt, filtered.';
