-- Makes a link by which any user sets a password, valid for 24 hours: {email, expiresAt}. The caller generated the link; an open one of the
-- user becomes invalid. It is recorded in the audit log of every organization of the user.
-- Raises SV004 USER_NOT_FOUND. Locks the user's row.
create or replace function svc_api.operator_create_password_link(email text, link_hash bytea)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _user_id constant text := iam.user_of_email(operator_create_password_link.email);
  _expires_at timestamptz;
begin
  _expires_at := iam.make_password_link(_user_id, operator_create_password_link.link_hash, 'operator');
  perform iam.record_audit(
    iam.operator_actor(m.organization_id), null, 'password_reset.created', null, null, _user_id,
    jsonb_build_object('email', lower(btrim(operator_create_password_link.email)))
  )
  from iam.memberships as m
  where m.user_id = _user_id;
  return json_build_object('email', lower(btrim(operator_create_password_link.email)), 'expiresAt', svc.iso(_expires_at));
end;
$$;

comment on function svc_api.operator_create_password_link(text, bytea) is
  'Makes a link by which a user sets a password; for the operator only.';
