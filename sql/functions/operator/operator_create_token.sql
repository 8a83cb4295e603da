-- Stores a headless token for an organization: {organizationId, token}. It acts as the member with that address, or as the oldest owner if
-- email is null; role limits what it may do, null for all that the member may.
-- Raises SV004 ORGANIZATION_NOT_FOUND or MEMBER_NOT_FOUND. Locks the organization's row, like iam.authorize_exclusively.
create or replace function svc_api.operator_create_token(
  organization_slug text, email text, label text, role text, expires_in_days integer, token_hash bytea
)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _organization_id constant text := iam.organization_of_slug(operator_create_token.organization_slug);
  _user_id text;
  _token iam.access_tokens;
begin
  perform from iam.organizations as o
  where o.organization_id = _organization_id
  for no key update;

  select m.user_id into _user_id
  from iam.memberships as m
  join iam.users as u on u.user_id = m.user_id
  where m.organization_id = _organization_id
    and case
      when operator_create_token.email is null then m.role = 'owner'
      else u.email = lower(btrim(operator_create_token.email))
    end
  order by m.created_at, m.user_id
  limit 1;
  if not found then
    raise exception using
      errcode = 'SV004',
      message = 'MEMBER_NOT_FOUND',
      detail = jsonb_build_object(
        'message', format(
          'The organization "%s" has no member "%s".', operator_create_token.organization_slug, operator_create_token.email
        ),
        'fix', '`svc-server users list` shows the users with their organizations.'
      )::text;
  end if;

  _token := iam.add_token(
    iam.operator_actor(_organization_id), null, _user_id, operator_create_token.role, operator_create_token.label,
    operator_create_token.expires_in_days, operator_create_token.token_hash
  );
  return json_build_object('organizationId', _organization_id, 'token', iam.token_document(_token));
end;
$$;

comment on function svc_api.operator_create_token(text, text, text, text, integer, bytea) is
  'Stores a headless token for an organization; for the operator only.';
