-- Customers in the order of their ids, filtered by lifecycle state, by membership in a segment, and to those that were set aside; or, with
-- the number of seconds for which there was no event (without events it counts from the customer's creation), those inactive the longest
-- first. Filters that are null do not filter. A page reads at most 2,000 customers: where so many hold too few that the filters pass, it
-- is short, even empty, and nextCursor goes on.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND, SV006 VALIDATION_ERROR (cursor; a state or a segment that
-- nobody is in and the active version does not declare). Locks nothing.
create or replace function svc_api.list_customers(
  token_hash bytea, organization_id text, project_slug text, environment_name text,
  lifecycle text, segment text, inactive_seconds double precision, set_aside boolean, row_limit integer, "cursor" text
)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _actor constant iam.actor := iam.authorize(
    list_customers.token_hash, list_customers.organization_id, 'list_customers', list_customers.environment_name
  );
  _environment constant record := svc.find_environment(
    list_customers.organization_id, list_customers.project_slug, list_customers.environment_name
  );
  _by_inactivity constant boolean := list_customers.inactive_seconds is not null;
  _list constant text := case when _by_inactivity then 'customers-inactive' else 'customers' end;
  _after constant text := svc.decode_cursor(
    _list, list_customers.cursor, case when _by_inactivity then '^([0-9]{1,18}|-[0-9]{1,17}) ' else '' end
  );
  _after_id constant text := case when _by_inactivity then substr(_after, strpos(_after, ' ') + 1) else _after end;
  _after_at constant timestamptz := case when _by_inactivity then svc.instant_of(split_part(_after, ' ', 1)::bigint) end;
  _inactive_since constant timestamptz := now() - make_interval(secs => list_customers.inactive_seconds);
  _order constant text := case when _by_inactivity then ' order by inactive_since, customer_id ' else ' order by customer_id ' end;
  _position constant text := case
    when _by_inactivity then $sql$ concat(svc.microseconds(c.inactive_since), ' ', c.customer_id) $sql$ else ' c.customer_id '
  end;
  _driver text;
  _is_small boolean;
  _source text;
  _filter text;
  _items json[];
  _positions text[];
  _resume text;
begin
  -- The customers that one of the filters passes are the way to those that all of them pass: the fewest of them, where they are few.
  select d.driver, d.is_small into _driver, _is_small
  from svc.customer_driver(
    _environment.environment_id, list_customers.lifecycle, list_customers.segment, list_customers.set_aside, _by_inactivity
  ) as d;

  -- Only the filters that are asked for are in the statements, so that each combination gets a plan of its own. The source is read in the
  -- order of the list, but for a small one of the inactive; the filter is asked of each customer that it gives, which is looked up by key,
  -- laterally with a limit, so that no plan can make a join of it.
  _source := concat(
    ' select s.customer_id ',
    case when _driver = 'inactive' then ', coalesce(s.last_event_at, s.created_at) as inactive_since ' end,
    case _driver
      when 'segment'
        then ' from svc.segment_memberships as s where s.environment_id = $1 and s.segment_id = $4 and s.exited_at is null '
      when 'lifecycle' then ' from svc.customers as s where s.environment_id = $1 and s.lifecycle = $3 '
      when 'set_aside' then ' from svc.customers as s where s.environment_id = $1 and s.set_aside_at is not null '
      when 'inactive' then $sql$
        from svc.customers as s
        where s.environment_id = $1
          and coalesce(s.last_event_at, s.created_at) is not null
          and coalesce(s.last_event_at, s.created_at) <= $5
      $sql$
      else ' from svc.customers as s where s.environment_id = $1 '
    end,
    case
      when _after is null then null
      when _driver = 'inactive' then ' and (coalesce(s.last_event_at, s.created_at), s.customer_id) > ($6, $2) '
      when not _by_inactivity then ' and s.customer_id > $2 '
    end,
    case when _driver = 'inactive' or not _by_inactivity then _order end
  );
  _filter := concat(
    case when list_customers.lifecycle is not null and _driver <> 'lifecycle' then ' and c.lifecycle = $3 ' end,
    case when list_customers.set_aside and _driver <> 'set_aside' then ' and c.set_aside_at is not null ' end,
    case when list_customers.segment is not null and _driver <> 'segment' then ' and m.is_member ' end,
    case when _by_inactivity and _driver <> 'inactive' then ' and c.inactive_since <= $5 ' end,
    case
      when _by_inactivity and _driver <> 'inactive' and _after is not null then ' and (c.inactive_since, c.customer_id) > ($6, $2) '
    end
  );

  execute concat(
    'select array_agg(svc.customer_item($1, c.customer_id)', _order, '), array_agg(', _position, _order, $sql$)
      from (
        select c.customer_id, c.inactive_since
        from ($sql$, _source, $sql$ limit 2000) as s
        cross join lateral (
          select k.customer_id, k.lifecycle, k.set_aside_at, coalesce(k.last_event_at, k.created_at) as inactive_since
          from svc.customers as k
          where k.environment_id = $1 and k.customer_id = s.customer_id
          limit 1
        ) as c
        left join lateral (
          select true as is_member
          from svc.segment_memberships as k
          where k.environment_id = $1 and k.segment_id = $4 and k.customer_id = s.customer_id and k.exited_at is null
          limit 1
        ) as m on true
        where true $sql$, _filter,
    case
      when _driver = 'inactive' then ' order by s.inactive_since, s.customer_id '
      when _by_inactivity then ' order by c.inactive_since, c.customer_id '
      else ' order by s.customer_id '
    end,
    ' limit $7 + 1) as c'
  )
  into _items, _positions
  using
    _environment.environment_id, _after_id, list_customers.lifecycle, list_customers.segment, _inactive_since, _after_at,
    list_customers.row_limit;

  if _filter <> '' and not _is_small and coalesce(cardinality(_items), 0) <= list_customers.row_limit then
    execute concat('select ', _position, ' from (', _source, ' offset 1999 limit 1) as c')
    into _resume
    using _environment.environment_id, _after_id, list_customers.lifecycle, list_customers.segment, _inactive_since, _after_at;
  end if;
  if _items is null and list_customers.cursor is null and _resume is null then
    perform
      svc.require_part(_environment.project_id, _environment.active_version, f.kind, f.field, f.name)
    from (values ('state', 'lifecycle', list_customers.lifecycle), ('segment', 'segment', list_customers.segment)) as f (kind, field, name);
  end if;
  return svc.partial_page(_list, _items, _positions, list_customers.row_limit, _resume);
end;
$$;

comment on function svc_api.list_customers(bytea, text, text, text, text, text, double precision, boolean, integer, text) is
  'Customers in the order of their ids, or the longest inactive first, filtered.';
