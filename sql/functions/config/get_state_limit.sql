-- The maximum size of the state that a model may keep for one customer, in bytes: a limit of the organization's plan. operation is the
-- operation that needs the limit, such as deploy_config: it is shown only to users who may perform it.
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
  return iam.quota(_actor.organization_id, 'state_bytes');
end;
$$;

comment on function svc_api.get_state_limit(bytea, text, text, text) is
  'The maximum size of the state that a model may keep for one customer, by the organization''s plan.';
