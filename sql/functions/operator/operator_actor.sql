-- The operator as the actor of a change in an organization: has access to the database itself, and therefore no user and no token.
-- Raises nothing, locks nothing.
create or replace function iam.operator_actor(organization_id text)
returns iam.actor
language sql
stable
set search_path = ''
as $$
  select (null, 'operator', null, null, o.organization_id, o.slug)::iam.actor
  from iam.organizations as o
  where o.organization_id = operator_actor.organization_id
$$;

comment on function iam.operator_actor(text) is 'The operator as the actor of a change, for the audit log.';
