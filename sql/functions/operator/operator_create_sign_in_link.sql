-- Makes a link by which any user signs a browser in: {email, expiresAt}. It is recorded in the audit log of every organization of the user.
-- Raises SV004 USER_NOT_FOUND. Locks the user's link.
create or replace function svc_api.operator_create_sign_in_link(email text, link_hash bytea)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _user_id constant text := iam.user_of_email(operator_create_sign_in_link.email);
begin
  perform iam.record_audit(
    iam.operator_actor(m.organization_id), null, 'sign_in_link.created', null, null, _user_id,
    jsonb_build_object('email', lower(btrim(operator_create_sign_in_link.email)))
  )
  from iam.memberships as m
  where m.user_id = _user_id;
  return iam.make_sign_in_link(_user_id, operator_create_sign_in_link.link_hash);
end;
$$;

comment on function svc_api.operator_create_sign_in_link(text, bytea) is
  'Makes a link by which a user signs a browser in; for the operator only.';
