-- Customers, filtered and sorted by customerId, by lastEvent (without events, by creation) or by health, which is the overall score, with
-- customers without one last; ascending or descending. With inactive_seconds, the longest inactive come first, unless another order is
-- requested. Null filters do not filter; search matches ids and textual traits that contain the text, in upper or lower case; traits is an
-- object of filters for svc.has_trait_value. A page reads at most 2,000 customers in its order: if too few of them pass the filters, it is
-- short or even empty, and nextCursor continues the list. Sorting by health reads the index of all customers of the environment each time.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND, SV006 VALIDATION_ERROR (cursor; what the active version does not declare: a
-- state, segment or signal that no customer has, or a band or trait that none of those in the first page's reach has). Locks nothing.
create or replace function svc_api.search_customers(
  token_hash bytea, organization_id text, project_slug text, environment_name text,
  lifecycle text, segment text, health text, signal text, search text, traits jsonb, inactive_seconds double precision, set_aside boolean,
  sort text, reverse boolean, row_limit integer, "cursor" text
)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _environment constant record := svc.authorize_environment(
    token_hash, organization_id, project_slug, environment_name, 'search_customers'
  );
  _sort constant text := coalesce(
    search_customers.sort, case when search_customers.inactive_seconds is null then 'customerId' else 'lastEvent' end
  );
  _by_id constant boolean := _sort = 'customerId';
  _list constant text := concat(
    'customers',
    case _sort when 'lastEvent' then '-inactive' when 'health' then '-health' end,
    case when search_customers.reverse then '-reversed' end
  );
  -- The sort key: an expression of the customer k, and how to convert it to and from the number in a cursor.
  _key constant text := case _sort
    when 'lastEvent' then 'coalesce(k.last_event_at, k.created_at)'
    when 'health' then case
      when search_customers.reverse then 'coalesce(k.health_overall, -1)' else 'coalesce(k.health_overall, 101)'
    end
  end;
  _number constant text := case _sort when 'lastEvent' then 'svc.microseconds(c.key)' else '(c.key * 100)::bigint' end;
  _after constant text := svc.decode_cursor(
    _list, search_customers.cursor, case when _by_id then '' else '^([0-9]{1,18}|-[0-9]{1,17}) ' end
  );
  _after_number constant bigint := case when not _by_id then split_part(_after, ' ', 1)::bigint end;
  _after_id constant text := case when _by_id then _after else substr(_after, strpos(_after, ' ') + 1) end;
  _after_key constant text := case _sort when 'lastEvent' then 'svc.instant_of($3)' else '$3 / 100.0' end;
  _direction constant text := case when search_customers.reverse then ' desc' else '' end;
  _position constant text := case when _by_id then 'c.customer_id' else concat('concat(', _number, $sql$, ' ', c.customer_id)$sql$) end;
  _order constant text := concat(
    ' order by ', case when not _by_id then concat('c.key', _direction, ', ') end, 'c.customer_id', _direction, ' '
  );
  _beyond constant text := case
    when _after is null then null
    else concat(
      ' and (', case when not _by_id then concat(_key, ', ') end, 'k.customer_id) ',
      case when search_customers.reverse then '<' else '>' end,
      ' (', case when not _by_id then concat(_after_key, ', ') end, '$2) '
    )
  end;
  _inactive_since constant timestamptz := now() - make_interval(secs => search_customers.inactive_seconds);
  _inactive constant text := case
    when _inactive_since is not null then ' and coalesce(k.last_event_at, k.created_at) <= $4 '
  end;
  _driver text;
  _is_small boolean;
  _source text;
  _filter text;
  _customers text[];
  _items json[];
  _positions text[];
  _resume text;
begin
  -- Start from the customers that one of the filters matches, if they are few: the filter with the fewest.
  select d.driver, d.is_small into _driver, _is_small
  from svc.narrowest_filter(
    _environment.environment_id, search_customers.lifecycle, search_customers.segment, search_customers.signal, search_customers.set_aside
  ) as d;
  -- Only a small set is sorted after it was read; a large one is read in the order of the list, which the other tables only have for ids.
  if not _is_small and not _by_id then
    _driver := 'order';
  end if;

  -- The statements contain only the filters in use, so that each combination gets its own plan. The source gives customers, with the key if
  -- it is read in the key's order; the filter is checked for each of its customers, which is looked up by key, laterally with a limit, so
  -- that no plan can turn it into a join.
  _source := concat(
    ' select c.* from (select k.customer_id',
    case when _driver = 'order' then concat(', ', _key, ' as key') end,
    case _driver
      when 'segment'
        then ' from svc.segment_memberships as k where k.environment_id = $1 and k.segment_id = $6 and k.exited_at is null '
      when 'signal' then ' from svc.signals as k where k.environment_id = $1 and k.signal_id = $8 and k.cleared_at is null '
      when 'lifecycle' then ' from svc.customers as k where k.environment_id = $1 and k.lifecycle = $5 '
      when 'set_aside' then ' from svc.customers as k where k.environment_id = $1 and k.set_aside_at is not null '
      -- Always true; repeats the condition of the index that has all sort keys.
      when 'order' then concat(
        ' from svc.customers as k where k.environment_id = $1 and coalesce(k.last_event_at, k.created_at) is not null ', _inactive,
        -- All are sorted anyway, so what the index has is checked before; otherwise a page would be of the first customers of all.
        case when _sort = 'health' and search_customers.lifecycle is not null then ' and k.lifecycle = $5 ' end,
        case when _sort = 'health' and search_customers.health is not null then ' and k.health_band = $7 ' end
      )
      else ' from svc.customers as k where k.environment_id = $1 '
    end,
    case when _driver = 'order' or _by_id then _beyond end,
    ') as c ',
    case when _driver = 'order' or _by_id then _order end
  );
  _filter := concat(
    case when search_customers.lifecycle is not null and _driver <> 'lifecycle' then ' and k.lifecycle = $5 ' end,
    case when search_customers.set_aside and _driver <> 'set_aside' then ' and k.set_aside_at is not null ' end,
    case when search_customers.health is not null then ' and k.health_band = $7 ' end,
    case
      when search_customers.traits is not null then $sql$
        and not exists (
          select from jsonb_each($9) as f (name, value)
          where not coalesce(svc.has_trait_value(k.traits -> f.name, f.value), false)
        )
      $sql$
    end,
    case when _driver <> 'order' then concat(_inactive, case when not _by_id then _beyond end) end,
    case
      when search_customers.search is not null then $sql$
        and (
          strpos(lower(k.customer_id collate "default"), lower($10)) > 0
          or exists (
            select from jsonb_each(k.traits) as t (name, value)
            where jsonb_typeof(t.value) = 'string' and strpos(lower(t.value #>> '{}'), lower($10)) > 0
          )
        )
      $sql$
    end,
    case
      when search_customers.segment is not null and _driver <> 'segment' then $sql$
        and exists (
          select from svc.segment_memberships as m
          where m.environment_id = $1 and m.segment_id = $6 and m.customer_id = k.customer_id and m.exited_at is null
        )
      $sql$
    end,
    case
      when search_customers.signal is not null and _driver <> 'signal' then $sql$
        and exists (
          select from svc.signals as g
          where g.environment_id = $1 and g.signal_id = $8 and g.customer_id = k.customer_id and g.cleared_at is null
        )
      $sql$
    end
  );

  execute concat(
    'select array_agg(c.customer_id', _order, '), array_agg(', _position, _order, ')
      from (
        select s.customer_id', case when not _by_id then ', k.key' end, '
        from (', _source, ' limit 2000) as s
        cross join lateral (
          select ', coalesce(_key, 'null'), ' as key
          from svc.customers as k
          where k.environment_id = $1 and k.customer_id = s.customer_id ', _filter, '
          limit 1
        ) as k ',
    -- In the order that the source already has, if any.
    case
      when _driver = 'order' then replace(_order, 'c.', 's.')
      else replace(replace(_order, 'c.key', 'k.key'), 'c.customer_id', 's.customer_id')
    end,
    ' limit $11 + 1) as c'
  )
  into _customers, _positions
  using
    _environment.environment_id, _after_id, _after_number, _inactive_since, search_customers.lifecycle, search_customers.segment,
    search_customers.health, search_customers.signal, search_customers.traits, search_customers.search, search_customers.row_limit;

  select array_agg(
    json_build_object(
      'customerId', c.customer_id,
      'lifecycle', c.lifecycle,
      'lifecycleEnteredAt', svc.iso(c.lifecycle_entered_at),
      'segments', c.segments,
      'health', c.health,
      'healthWeekAgo', c.health_week_ago,
      'signals', c.signals,
      'journeys', c.journeys,
      'lastEventAt', svc.iso(c.last_event_at),
      'createdAt', svc.iso(c.created_at),
      'setAside', case
        when c.set_aside_at is not null then json_build_object('at', svc.iso(c.set_aside_at), 'error', c.set_aside_error)
      end
    )
    order by c.n
  )
  into _items
  from svc.customer_states(_environment.environment_id, _customers) as c;

  if _filter <> '' and not _is_small and coalesce(cardinality(_items), 0) <= search_customers.row_limit then
    execute concat('select ', _position, ' from (', _source, ' offset 1999 limit 1) as c')
    into _resume
    using
      _environment.environment_id, _after_id, _after_number, _inactive_since, search_customers.lifecycle, search_customers.segment,
      search_customers.health, search_customers.signal;
  end if;
  if _items is null and search_customers.cursor is null then
    perform
      svc.require_part(_environment.project_id, _environment.active_version, f.kind, f.field, f.name)
    from (
      values
        ('state', 'lifecycle', search_customers.lifecycle),
        ('segment', 'segment', search_customers.segment),
        ('signal', 'signal', search_customers.signal),
        ('band', 'health', search_customers.health)
    ) as f (kind, field, name)
    -- No list is read by bands or traits: where none of the first customers has one, it may be far to another.
    where f.kind = 'band' or _resume is null;
    perform svc.require_traits(
      _environment.environment_id, _environment.project_id, _environment.active_version, search_customers.traits
    );
  end if;
  return svc.partial_page(_list, _items, _positions, search_customers.row_limit, _resume);
end;
$$;

comment on function svc_api.search_customers(
  bytea, text, text, text, text, text, text, text, text, jsonb, double precision, boolean, text, boolean, integer, text
) is 'Customers, filtered and sorted.';
