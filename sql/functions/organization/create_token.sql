-- Stores a headless token of the actor for its organization. The caller generated the token and passes only its SHA-256. role limits what
-- it may do, null for all that its user may; it never exceeds the user's current permissions.
-- Raises what iam.authorize and iam.record_audit raise, SV009 QUOTA_EXCEEDED. Locks like iam.authorize_exclusively: a user who is being
-- removed leaves no token behind.
create or replace function svc_api.create_token(
  token_hash bytea, organization_id text, request_id text, label text, role text, expires_in_days integer, new_token_hash bytea
)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _actor constant iam.actor := iam.authorize_exclusively(token_hash, organization_id, 'create_token');
begin
  perform iam.require_room(create_token.organization_id, 'tokens');
  return iam.token_document(
    iam.add_token(
      _actor, create_token.request_id, _actor.user_id, create_token.role, create_token.label, create_token.expires_in_days,
      create_token.new_token_hash
    )
  );
end;
$$;

comment on function svc_api.create_token(bytea, text, text, text, text, integer, bytea) is
  'Stores a headless token of the actor for its organization.';
