-- The operations in quarantine, last accepted first, filtered by id, event name and the code of the first violation; null filters do not
-- filter. In addition to the page: the number of operations, its limit, and when the oldest was quarantined. A page reads at most
-- 2,000 operations: if too few of them pass the filters, it is short or even empty, and nextCursor continues the list.
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
  _environment constant record := svc.authorize_environment(
    token_hash, organization_id, project_slug, environment_name, 'list_quarantined'
  );
  _id constant integer := _environment.environment_id;
  _before constant bigint := coalesce(
    svc.decode_cursor('quarantine', list_quarantined.cursor, '^[0-9]{1,18}$')::bigint, 9223372036854775807
  );
  _read integer;
  _last bigint;
  _seqs bigint[];
  _operation svc.quarantined_operations;
  _items json[];
  _positions text[];
  _operations bigint;
  _since timestamptz;
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
  select
    count(*), min(r.seq), array(select m.seq from read as m where m.matches order by m.seq desc limit list_quarantined.row_limit + 1)
  into _read, _last, _seqs
  from read as r;

  for _operation in
    select q.*
    from svc.quarantined_operations as q
    where q.environment_id = _id and q.seq = any(_seqs)
    order by q.seq desc
  loop
    _items := array_append(_items, svc.quarantined_item(_operation));
    _positions := array_append(_positions, _operation.seq::text);
  end loop;

  select q.operations into _operations from svc.quarantines as q where q.environment_id = _id;
  select q.quarantined_at into _since from svc.quarantined_operations as q where q.environment_id = _id order by q.seq limit 1;
  return svc.with_members(
    svc.partial_page('quarantine', _items, _positions, list_quarantined.row_limit, case when _read = 2000 then _last::text end),
    json_build_object('operations', coalesce(_operations, 0), 'limit', svc.quarantine_limit(), 'since', svc.iso(_since))
  );
end;
$$;

comment on function svc_api.list_quarantined(bytea, text, text, text, text, text, text, integer, text) is
  'The operations in quarantine, last accepted first, filtered.';
