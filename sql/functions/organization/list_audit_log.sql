-- The changes in an organization, newest first, filtered by action, by the address of the actor, and by an earliest instant. Null filters
-- do not filter.
-- Raises what iam.authorize raises, SV006 VALIDATION_ERROR (cursor). Locks nothing.
create or replace function svc_api.list_audit_log(
  token_hash bytea, organization_id text, action text, actor text, since timestamptz, row_limit integer, "cursor" text
)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _actor constant iam.actor := iam.authorize(token_hash, organization_id, 'list_audit_log');
  _before constant text[] := string_to_array(svc.decode_cursor('audit-log', list_audit_log.cursor, '^[0-9]{1,16} [0-9]{1,18}$'), ' ');
  _document json;
begin
  -- The statement contains only the filters in use, so that each combination gets its own plan.
  execute concat(
    $sql$
      select svc.page(
        'audit-log',
        array_agg(r.item order by r.at desc, r.audit_seq desc),
        array_agg(svc.microseconds(r.at) || ' ' || r.audit_seq order by r.at desc, r.audit_seq desc),
        $7
      )
      from (
        select
          a.at,
          a.audit_seq,
          json_build_object(
            'at', svc.iso(a.at),
            'action', a.action,
            'actor', a.actor,
            'actorUserId', a.actor_user_id,
            'tokenId', a.token_id,
            'requestId', a.request_id,
            'project', a.project,
            'environment', a.environment,
            'target', a.target,
            'details', a.details
          ) as item
        from iam.audit_log as a
        where a.organization_id = $1
    $sql$,
    case when list_audit_log.action is not null then ' and a.action = $2 ' end,
    case when list_audit_log.actor is not null then ' and a.actor = $3 ' end,
    case when list_audit_log.since is not null then ' and a.at >= $4 ' end,
    case when _before is not null then ' and (a.at, a.audit_seq) < ($5, $6) ' end,
    $sql$
        order by a.at desc, a.audit_seq desc
        limit $7 + 1
      ) as r
    $sql$
  )
  into _document
  using
    _actor.organization_id, list_audit_log.action, lower(list_audit_log.actor), list_audit_log.since,
    svc.instant_of(_before[1]::bigint), _before[2]::bigint, list_audit_log.row_limit;
  return _document;
end;
$$;

comment on function svc_api.list_audit_log(bytea, text, text, text, timestamptz, integer, text) is
  'The changes in an organization, newest first, filtered.';
