-- Customers in the order of their ids, filtered by lifecycle state, by membership in a segment, by how many seconds there was no event
-- (without events it counts from the customer's creation), and to those that were set aside. Filters that are null do not filter.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND, SV006 VALIDATION_ERROR (cursor). Locks nothing.
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
  _environment record := svc.find_environment(
    list_customers.organization_id, list_customers.project_slug, list_customers.environment_name
  );
  _after constant text := coalesce(svc.decode_cursor('customers', list_customers.cursor), '');
  _document json;
begin
  -- Only the filters that are asked for are in the statement, so that each combination gets a plan of its own.
  execute concat(
    $sql$
      select svc.page('customers', array_agg(r.item order by r.customer_id), array_agg(r.customer_id order by r.customer_id), $6)
      from (
        select
          c.customer_id,
          json_build_object(
            'customerId', c.customer_id,
            'lifecycle', c.lifecycle,
            'lifecycleEnteredAt', svc.iso(c.lifecycle_entered_at),
            'segments', svc.segments_of(c.environment_id, c.customer_id),
            'health', c.health,
            'journeys', svc.journeys_of(c.environment_id, c.customer_id),
            'lastEventAt', svc.iso(c.last_event_at),
            'createdAt', svc.iso(c.created_at),
            'setAside',
            case
              when c.set_aside_at is not null
                then json_build_object('at', svc.iso(c.set_aside_at), 'error', c.set_aside_error)
            end
          ) as item
        from svc.customers as c
        where c.environment_id = $1
          and c.customer_id > $2
    $sql$,
    case when list_customers.lifecycle is not null then ' and c.lifecycle = $3 ' end,
    case
      when list_customers.segment is not null then $sql$
          and exists (
            select from svc.segment_memberships as m
            where m.environment_id = $1 and m.segment_id = $4 and m.customer_id = c.customer_id and m.exited_at is null
          )
      $sql$
    end,
    case
      when list_customers.inactive_seconds is not null
        then ' and coalesce(c.last_event_at, c.created_at) <= now() - make_interval(secs => $5) '
    end,
    case when list_customers.set_aside then ' and c.set_aside_at is not null ' end,
    $sql$
        order by c.customer_id
        limit $6 + 1
      ) as r
    $sql$
  )
  into _document
  using
    _environment.environment_id, _after, list_customers.lifecycle, list_customers.segment, list_customers.inactive_seconds,
    list_customers.row_limit;
  return _document;
end;
$$;

comment on function svc_api.list_customers(bytea, text, text, text, text, text, double precision, boolean, integer, text) is
  'Customers in the order of their ids, filtered.';
