-- What is in quarantine, the last accepted first, filtered by id, event name and the code of the first violation; null filters do not
-- filter. Beside the page: how many operations there are in all, how many may be, and since when the oldest is there. A page reads at most
-- 2,000 operations: where so many hold too few that the filters pass, it is short, even empty, and nextCursor goes on.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND, SV006 VALIDATION_ERROR (cursor). Locks nothing.
create or replace function svc_api.list_quarantined(
  token_hash bytea, organization_id text, project_slug text, environment_name text,
  quarantine_id text, event text, code text, row_limit integer, "cursor" text
)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _actor constant iam.actor := iam.authorize(
    list_quarantined.token_hash, list_quarantined.organization_id, 'list_quarantined', list_quarantined.environment_name
  );
  _id constant integer := (
    svc.find_environment(list_quarantined.organization_id, list_quarantined.project_slug, list_quarantined.environment_name)
  ).environment_id;
  _before constant bigint := coalesce(
    svc.decode_cursor('quarantine', list_quarantined.cursor, '^[0-9]{1,18}$')::bigint, 9223372036854775807
  );
  _page json;
begin
  with read as materialized (
    select q.seq, (
      (list_quarantined.event is null or q.event = list_quarantined.event)
      and (list_quarantined.code is null or q.code = list_quarantined.code)
    ) is true as matches
    from svc.quarantined_operations as q
    where q.environment_id = _id and q.seq < _before
      and (list_quarantined.quarantine_id is null or q.seq = svc.quarantined_seq(list_quarantined.quarantine_id))
    order by q.seq desc
    limit 2000
  )
  select svc.partial_page(
    'quarantine', array_agg(r.item order by r.seq desc), array_agg(r.seq::text order by r.seq desc), list_quarantined.row_limit,
    (select min(k.seq)::text from read as k having count(*) = 2000)
  )
  into _page
  from (
    select k.seq, svc.quarantined_item(q) as item
    from (select m.seq from read as m where m.matches order by m.seq desc limit list_quarantined.row_limit + 1) as k
    join svc.quarantined_operations as q on q.environment_id = _id and q.seq = k.seq
  ) as r;

  return svc.with_members(
    _page,
    json_build_object(
      'operations', coalesce((select q.operations from svc.quarantines as q where q.environment_id = _id), 0),
      'limit', svc.quarantine_limit(),
      'since', (
        select svc.iso(q.quarantined_at) from svc.quarantined_operations as q where q.environment_id = _id order by q.seq limit 1
      )
    )
  );
end;
$$;

comment on function svc_api.list_quarantined(bytea, text, text, text, text, text, text, integer, text) is
  'What is in quarantine, the last accepted first, filtered.';
