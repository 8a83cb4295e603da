-- The headless tokens of an organization, newest first, including expired and revoked ones.
-- Raises what iam.authorize raises, SV006 VALIDATION_ERROR (cursor). Locks nothing.
create or replace function svc_api.list_tokens(token_hash bytea, organization_id text, row_limit integer, "cursor" text)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _actor constant iam.actor := iam.authorize(token_hash, organization_id, 'list_tokens');
  _before constant text[] := string_to_array(svc.decode_cursor('tokens', list_tokens.cursor, '^[0-9]{1,16} tok_[0-9a-f]{20}$'), ' ');
begin
  return (
    select svc.page(
      'tokens',
      array_agg(r.item order by r.created_at desc, r.token_id desc),
      array_agg(svc.microseconds(r.created_at) || ' ' || r.token_id order by r.created_at desc, r.token_id desc),
      row_limit
    )
    from (
      select t.created_at, t.token_id, iam.token_document(t) as item
      from iam.access_tokens as t
      where t.organization_id = _actor.organization_id
        and (_before is null or (t.created_at, t.token_id) < (svc.instant_of(_before[1]::bigint), _before[2]))
      order by t.created_at desc, t.token_id desc
      limit row_limit + 1
    ) as r
  );
end;
$$;

comment on function svc_api.list_tokens(bytea, text, integer, text) is 'The headless tokens of an organization, newest first.';
