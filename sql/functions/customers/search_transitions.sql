-- Lifecycle transitions of all customers, last written first; filtered by the state left (empty for none), by the state entered, and by the
-- days on which they happened, in the organization's time zone, from the first to the last. Null filters do not filter. Only transitions of
-- current histories, as svc_api.get_trends counts them. A page reads at most 2,000 transitions into each state: if too few of them pass the
-- filters, it is short or even empty, and nextCursor continues the list.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND, SV006 VALIDATION_ERROR (cursor; a state that the active
-- version does not declare, if nothing is found). Locks nothing.
create or replace function svc_api.search_transitions(
  token_hash bytea, organization_id text, project_slug text, environment_name text,
  "left" text, entered text, "from" date, "to" date, row_limit integer, "cursor" text
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
    token_hash, organization_id, project_slug, environment_name, 'search_transitions'
  );
  _id constant integer := _environment.environment_id;
  _zone constant text := svc.time_zone_of_environment(_id);
  _before constant bigint := coalesce(
    svc.decode_cursor('all-transitions', search_transitions.cursor, '^[0-9]{1,18}$')::bigint, 9223372036854775807
  );
  _look_max constant integer := 2000;
  _looked svc.lifecycle_transitions[];
  _items json[];
  _positions text[];
  _resume text;
begin
  _looked := array(
    select t from svc.newest_transitions(_id, search_transitions.entered, _before, _look_max) as t order by t.transition_seq desc
  );
  with passed as (
    select l.*
    from unnest(_looked) as l
    cross join lateral (
      select 1
      from svc.customers as c
      where c.environment_id = _id and c.customer_id = l.customer_id and c.generation = l.generation
      limit 1
    ) as c
    where (search_transitions.left is null or l.from_state is not distinct from nullif(search_transitions.left, ''))
      and (search_transitions.from is null or (l.transitioned_at at time zone _zone)::date >= search_transitions.from)
      and (search_transitions.to is null or (l.transitioned_at at time zone _zone)::date <= search_transitions.to)
    order by l.transition_seq desc
    limit search_transitions.row_limit + 1
  )
  select
    array_agg(
      json_build_object(
        'customerId', p.customer_id,
        'from', p.from_state,
        'to', p.to_state,
        'at', svc.iso(p.transitioned_at),
        'cause', json_build_object('type', p.cause_type, 'id', p.cause_id),
        'configVersion', 'v' || p.config_version
      )
      order by p.transition_seq desc
    ),
    array_agg(p.transition_seq::text order by p.transition_seq desc)
  into _items, _positions
  from passed as p;
  _resume := _looked[_look_max].transition_seq;

  if _items is null and search_transitions.cursor is null and _resume is null then
    perform
      svc.require_part(_environment.project_id, _environment.active_version, 'state', f.field, f.name)
    from (values ('entered', search_transitions.entered), ('left', nullif(search_transitions.left, ''))) as f (field, name);
  end if;
  return svc.partial_page('all-transitions', _items, _positions, search_transitions.row_limit, _resume);
end;
$$;

comment on function svc_api.search_transitions(bytea, text, text, text, text, text, date, date, integer, text) is
  'Lifecycle transitions of all customers, last written first, filtered.';
