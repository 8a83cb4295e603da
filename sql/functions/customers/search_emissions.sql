-- Emissions, last written first; filtered by customer, event type, source, and an earliest time of writing, whenever the change happened.
-- Null filters do not filter. A page reads at most 2,000 emissions: if too few of them pass the filters, it is short or even empty, and
-- nextCursor continues the list.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND, SV006 VALIDATION_ERROR (cursor). Locks nothing.
create or replace function svc_api.search_emissions(
  token_hash bytea, organization_id text, project_slug text, environment_name text,
  customer_id text, event_type text, source text, since timestamptz, row_limit integer, "cursor" text
)
returns json
language plpgsql
stable
security definer
set search_path = ''
-- Force index scans, whatever the statistics say.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  _environment constant record := svc.authorize_environment(
    token_hash, organization_id, project_slug, environment_name, 'search_emissions'
  );
  _id constant integer := _environment.environment_id;
  _before constant bigint := coalesce(
    svc.decode_cursor('emissions', search_emissions.cursor, '^[0-9]{1,18}$')::bigint, 9223372036854775807
  );
  _from bigint := 0;
  _look_max constant integer := case
    when search_emissions.event_type is null and search_emissions.source is null then search_emissions.row_limit + 1
    else 2000
  end;
  _items json[];
  _positions text[];
  _looked_at bigint[];
begin
  if search_emissions.since is not null then
    -- Numbers rise with the time of writing, except for concurrent transactions, of which an environment has few.
    select min(b.evaluation_seq) << 16 into _from
    from (
      select k.evaluation_seq
      from svc.emission_batches as k
      where k.environment_id = _id and k.created_at >= search_emissions.since
      order by k.created_at
      limit 1000
    ) as b;
  end if;

  with looked as materialized (
    (
      select m.*
      from svc.emissions as m
      where search_emissions.customer_id is null
        and m.environment_id = _id and m.emission_seq >= _from and m.emission_seq < _before
      order by m.emission_seq desc
      limit _look_max
    )
    union all
    (
      select m.*
      from svc.emissions as m
      where m.environment_id = _id and m.customer_id = search_emissions.customer_id
        and m.emission_seq >= _from and m.emission_seq < _before
      order by m.emission_seq desc
      limit _look_max
    )
  ),
  passed as (
    select l.*
    from looked as l
    where (search_emissions.event_type is null or l.event_type = search_emissions.event_type)
      and (search_emissions.source is null or l.source = search_emissions.source)
      and (search_emissions.since is null or l.created_at >= search_emissions.since)
    order by l.emission_seq desc
    limit search_emissions.row_limit + 1
  )
  select
    array_agg(
      json_build_object(
        'id', svc.emission_id(p.emission_seq),
        'customerId', p.customer_id,
        'eventType', p.event_type,
        'source', p.source,
        'metadata', p.metadata,
        'timestamp', svc.iso(p.emitted_at),
        'createdAt', svc.iso(p.created_at),
        'cause', json_build_object('type', p.cause_type, 'id', p.cause_id),
        'configVersion', 'v' || p.config_version
      )
      order by p.emission_seq desc
    ),
    array_agg(p.emission_seq::text order by p.emission_seq desc),
    (select array_agg(l.emission_seq) from looked as l)
  into _items, _positions, _looked_at
  from passed as p;

  return svc.partial_page(
    'emissions', _items, _positions, search_emissions.row_limit,
    case when cardinality(_looked_at) = _look_max then (select min(l.seq)::text from unnest(_looked_at) as l (seq)) end
  );
end;
$$;

comment on function svc_api.search_emissions(bytea, text, text, text, text, text, text, timestamptz, integer, text) is
  'Emissions, last written first, filtered.';
