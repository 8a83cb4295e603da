-- The open invitations of an organization by address: neither accepted nor revoked. An expired one stays in the list until it is
-- revoked or replaced.
-- Raises what iam.authorize raises, SV006 VALIDATION_ERROR (cursor). Locks nothing.
create or replace function svc_api.list_invitations(token_hash bytea, organization_id text, row_limit integer, "cursor" text)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _actor constant iam.actor := iam.authorize(token_hash, organization_id, 'list_invitations');
  _after constant text := coalesce(svc.decode_cursor('invitations', list_invitations.cursor), '');
begin
  return (
    select svc.page('invitations', array_agg(r.item order by r.email), array_agg(r.email order by r.email), row_limit)
    from (
      select i.email, iam.invitation_document(i) as item
      from iam.invitations as i
      where i.organization_id = _actor.organization_id
        and i.accepted_at is null
        and i.revoked_at is null
        and i.email > _after
      order by i.email
      limit row_limit + 1
    ) as r
  );
end;
$$;

comment on function svc_api.list_invitations(bytea, text, integer, text) is 'The open invitations of an organization by address.';
