-- What a model may remember for one customer of an organization at most, in bytes: the limit of its plan. operation is what asks, such as
-- deploy_config: who may not do it is not told.
-- Raises what iam.authorize raises. Locks nothing.
create or replace function svc_api.get_state_limit(token_hash bytea, organization_id text, operation text, environment_name text)
returns integer
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _actor constant iam.actor := iam.authorize(token_hash, organization_id, operation, environment_name);
begin
  return (
    select p.state_bytes
    from iam.organizations as o
    join iam.plans as p on p.plan_id = o.plan_id
    where o.organization_id = _actor.organization_id
  );
end;
$$;

comment on function svc_api.get_state_limit(bytea, text, text, text) is
  'What a model may remember for one customer at most, by the organization''s plan.';
