-- A page of the members of a segment at an instant, in the order of their ids: {customerId, enteredAt}, as in svc.memberships_at. The page
-- also has recomputedAt, of svc.recomputed_after.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND or SEGMENT_NOT_FOUND (neither in the active configuration nor ever with
-- members), SV006 VALIDATION_ERROR (cursor). Locks nothing.
create or replace function svc_api.list_members_at(
  token_hash bytea, organization_id text, project_slug text, environment_name text, segment_id text, at timestamptz, row_limit integer,
  "cursor" text
)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _environment constant record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'list_members_at');
  _id constant integer := _environment.environment_id;
  _declared constant text[] := svc.part_names(_environment.project_id, _environment.active_version, 'segment');
  _after constant text := coalesce(svc.decode_cursor('members_at', list_members_at.cursor), '');
  _recomputed_at constant timestamptz := svc.recomputed_after(_id, list_members_at.at);
  _items json[];
  _positions text[];
begin
  if list_members_at.segment_id <> all(_declared) and not exists (
    select 1 from svc.segment_memberships as m
    where m.environment_id = _id and m.segment_id = list_members_at.segment_id
  ) then
    perform svc.raise_segment_not_found(_environment.project_id, _environment.active_version, list_members_at.segment_id);
  end if;
  -- What a function returns has the database's collation, not that of its column.
  select
    array_agg(r.item order by r.customer_id collate "C"),
    array_agg(r.customer_id order by r.customer_id collate "C")
  into _items, _positions
  from (
    select m.customer_id, json_build_object('customerId', m.customer_id, 'enteredAt', svc.iso(m.entered_at)) as item
    from svc.segment_members_at(_id, list_members_at.segment_id, list_members_at.at, _after, row_limit + 1) as m
    order by m.customer_id collate "C"
    limit row_limit + 1
  ) as r;
  return svc.with_members(
    svc.page('members_at', _items, _positions, row_limit), json_build_object('recomputedAt', svc.iso(_recomputed_at))
  );
end;
$$;

comment on function svc_api.list_members_at(bytea, text, text, text, text, timestamptz, integer, text) is
  'A page of the members of a segment at an instant.';
