-- The recomputes and dry runs of an environment, newest first, without previews and backtests; with a given status, if any. A page reads at
-- most 2,000 rows: if too few of them belong to the list, it is short or even empty, and nextCursor continues the list.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND, SV006 VALIDATION_ERROR (cursor). Locks nothing.
create or replace function svc_api.list_recomputes(
  token_hash bytea, organization_id text, project_slug text, environment_name text, status text, row_limit integer, "cursor" text
)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _environment constant record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'list_recomputes');
  _before constant bigint := coalesce(
    svc.decode_cursor('recomputes', list_recomputes.cursor, '^[0-9]{1,18}$')::bigint, 9223372036854775807
  );
  _looked_at integer;
  _last bigint;
  _shown text[];
  _recompute svc.recomputes;
  _items json[];
  _positions text[];
begin
  with looked_at as materialized (
    select r.recompute_id, r.recompute_seq, r.kind, r.status
    from svc.recomputes as r
    where r.environment_id = _environment.environment_id and r.recompute_seq < _before
    order by r.recompute_seq desc
    limit 2000
  ),
  shown as (
    select l.recompute_id
    from looked_at as l
    where l.kind in ('recompute', 'dry_run') and (list_recomputes.status is null or l.status = list_recomputes.status)
    order by l.recompute_seq desc
    limit list_recomputes.row_limit + 1
  )
  select
    (select count(*) from looked_at),
    (select min(l.recompute_seq) from looked_at as l),
    array_agg(s.recompute_id)
  into _looked_at, _last, _shown
  from shown as s;

  for _recompute in
    select r.*
    from svc.recomputes as r
    where r.environment_id = _environment.environment_id and r.recompute_id = any(_shown)
    order by r.recompute_seq desc
  loop
    _items := array_append(_items, svc.recompute_document(_recompute, list_recomputes.environment_name));
    _positions := array_append(_positions, _recompute.recompute_seq::text);
  end loop;

  return svc.partial_page(
    'recomputes', _items, _positions, list_recomputes.row_limit, case when _looked_at = 2000 then _last::text end
  );
end;
$$;

comment on function svc_api.list_recomputes(bytea, text, text, text, text, integer, text) is
  'The recomputes and dry runs of an environment, newest first.';
