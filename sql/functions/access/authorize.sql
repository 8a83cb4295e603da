-- Authenticates and authorizes: finds the user behind an access token or a browser's session and the user's role in an organization, and
-- looks the operation up in iam.operations(). Every administrative function calls this first. environment is null if the operation concerns
-- none. An organization that the token gives no access to is reported as not existing, so that its existence is not revealed.
-- Raises SV001 INVALID_SESSION for a token or session that is unknown, expired or ended, SV004 ORGANIZATION_NOT_FOUND, SV003 FORBIDDEN and
-- SV002 PLAN_REQUIRED, in this order. Locks nothing.
create or replace function iam.authorize(token_hash bytea, organization_id text, operation text, environment text default null)
returns iam.actor
language plpgsql
stable
set search_path = ''
as $$
declare
  _actor iam.actor;
  _entitled boolean;
  _entitlement text;
  _required text;
begin
  select
    t.user_id, u.email, case when iam.role_rank(t.role) < iam.role_rank(m.role) then t.role else m.role end, t.token_id,
    o.organization_id, o.slug, case when authorize.environment = 'live' then r.role_live else r.role_test end,
    case r.entitlement when 'cloud_execution' then p.cloud_execution when 'ai' then p.ai else r.entitlement is null end,
    r.entitlement
  into
    _actor.user_id, _actor.email, _actor.role, _actor.token_id, _actor.organization_id, _actor.organization_slug, _required,
    _entitled, _entitlement
  from (
    select a.user_id, a.token_id, a.role, a.organization_id
    from iam.access_tokens as a
    where a.token_hash = authorize.token_hash and a.expires_at > now() and a.revoked_at is null
    union all
    select s.user_id, null, null, null
    from iam.sessions as s
    where s.session_hash = authorize.token_hash and s.expires_at > now()
  ) as t
  join iam.users as u on u.user_id = t.user_id
  left join iam.memberships as m
    on m.user_id = t.user_id
    and m.organization_id = authorize.organization_id
    and coalesce(t.organization_id, m.organization_id) = m.organization_id
  left join iam.organizations as o on o.organization_id = m.organization_id
  left join iam.plans as p on p.plan_id = o.plan_id
  left join iam.operations() as r on r.operation = authorize.operation;
  if not found then
    raise exception using errcode = 'SV001', message = 'INVALID_SESSION';
  end if;
  if _actor.organization_id is null then
    raise exception using errcode = 'SV004', message = 'ORGANIZATION_NOT_FOUND';
  end if;

  -- Also for an unknown operation, which would be a bug.
  if (iam.role_rank(_actor.role) >= iam.role_rank(_required)) is not true then
    raise exception using
      errcode = 'SV003',
      message = 'FORBIDDEN',
      detail = jsonb_build_object(
        'message', format('Your role "%s" may not do this.', _actor.role),
        'reason', format('It needs the role "%s"%s.', _required, case when _required <> 'owner' then ' or a higher one' end),
        'fix', 'Ask an owner of the organization for that role, or ask someone who has it to do this.'
      )::text;
  end if;
  if not _entitled and _entitlement = 'ai' then
    raise exception using
      errcode = 'SV002',
      message = 'PLAN_REQUIRED',
      detail = jsonb_build_object(
        'message', 'The organization''s plan does not include the language model.',
        'fix', 'Ask the operator of this service for a plan that includes it.'
      )::text;
  end if;
  if not _entitled then
    raise exception using errcode = 'SV002', message = 'PLAN_REQUIRED';
  end if;
  return _actor;
end;
$$;

comment on function iam.authorize(bytea, text, text, text) is
  'The user and role behind an access token or a session, if they may do an operation; raises otherwise.';
