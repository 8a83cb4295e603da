-- A segment: its number of current members, and a page of them in the order of their ids; on the first page also its definition in the
-- active configuration, null if there is none, and statistics of all members (svc.segment_statistics).
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND or SEGMENT_NOT_FOUND (neither in the active configuration nor
-- with members), SV006 VALIDATION_ERROR (cursor). Locks nothing.
create or replace function svc_api.get_segment(
  token_hash bytea, organization_id text, project_slug text, environment_name text, segment_id text, row_limit integer, "cursor" text
)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _environment record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'get_segment');
  _after constant text := coalesce(svc.decode_cursor('members', get_segment.cursor), '');
  _definition json;
  _members bigint;
  _items json[];
  _positions text[];
begin
  select s.definition into _definition
  from svc.config_versions as v
  cross join lateral json_array_elements(v.snapshot -> 'segments') as s (definition)
  where v.project_id = _environment.project_id
    and v.version = _environment.active_version
    and s.definition ->> 'id' = get_segment.segment_id;

  select count(*) into _members
  from svc.segment_memberships as m
  where m.environment_id = _environment.environment_id and m.segment_id = get_segment.segment_id and m.exited_at is null;

  if _members = 0 and _definition is null then
    perform svc.raise_segment_not_found(_environment.project_id, _environment.active_version, get_segment.segment_id);
  end if;

  select array_agg(r.item order by r.customer_id), array_agg(r.customer_id order by r.customer_id)
  into _items, _positions
  from (
    select m.customer_id, json_build_object('customerId', m.customer_id, 'enteredAt', svc.iso(m.entered_at)) as item
    from svc.segment_memberships as m
    where m.environment_id = _environment.environment_id
      and m.segment_id = get_segment.segment_id
      and m.exited_at is null
      and m.customer_id > _after
    order by m.customer_id
    limit row_limit + 1
  ) as r;
  return svc.with_members(
    case
      when get_segment.cursor is null then json_build_object(
        'segment', get_segment.segment_id,
        'members', _members,
        'definition', _definition,
        'statistics', svc.segment_statistics(_environment.environment_id, get_segment.segment_id)
      )
      else json_build_object('segment', get_segment.segment_id, 'members', _members)
    end,
    svc.page('members', _items, _positions, row_limit)
  );
end;
$$;

comment on function svc_api.get_segment(bytea, text, text, text, text, integer, text) is 'A segment and a page of its members.';
