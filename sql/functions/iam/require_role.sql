-- Who acts: checks that an access token is good for an organization and that its user's role there holds a permission. Every
-- administrative function calls this first.
-- Raises SV001 INVALID_SESSION for a token that is unknown, expired, revoked or of another organization, without telling which, and
-- SV003 FORBIDDEN. Locks nothing.
create or replace function iam.require_role(token_hash bytea, organization_id text, permission text, out email text, out role text)
language plpgsql
stable
set search_path = ''
as $$
declare
  _required constant text := iam.required_role(require_role.permission);
begin
  select u.email, m.role
  into require_role.email, require_role.role
  from iam.access_tokens as t
  join iam.memberships as m on m.organization_id = t.organization_id and m.user_id = t.user_id
  join iam.users as u on u.user_id = t.user_id
  where t.token_hash = require_role.token_hash
    and t.organization_id = require_role.organization_id
    and t.expires_at > now()
    and t.revoked_at is null;
  if not found then
    raise exception using errcode = 'SV001', message = 'INVALID_SESSION';
  end if;

  if iam.role_rank(require_role.role) < iam.role_rank(_required) then
    raise exception using
      errcode = 'SV003',
      message = 'FORBIDDEN',
      detail = jsonb_build_object(
        'message', format('Your role "%s" may not do this.', require_role.role),
        'reason', format('It needs the role "%s" or a higher one.', _required),
        'fix', 'Ask an owner of the organization for that role, or use the token of somebody who has it.'
      )::text;
  end if;
end;
$$;

comment on function iam.require_role(bytea, text, text) is
  'The user and role behind an access token; raises INVALID_SESSION or FORBIDDEN.';
