-- The state document of one customer.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND or CUSTOMER_NOT_FOUND. Locks nothing.
create or replace function svc_api.get_customer(
  token_hash bytea, organization_id text, project_slug text, environment_name text, customer_id text
)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _environment record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'get_customer');
begin
  perform svc.require_customer(_environment.environment_id, get_customer.customer_id);
  return svc.state_document(_environment.environment_id, get_customer.customer_id);
end;
$$;

comment on function svc_api.get_customer(bytea, text, text, text, text) is 'The state document of a customer.';
