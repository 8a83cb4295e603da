-- As svc_api.list_emissions, oldest first, for processes of a version before it; they may run beside the present ones for a while.
-- Raises what that raises. Locks nothing.
create or replace function svc_api.customer_timeline(
  token_hash bytea, organization_id text, project_slug text, environment_name text, customer_id text, row_limit integer, "cursor" text
)
returns json
language sql
stable
security definer
set search_path = ''
return svc_api.list_emissions(
  token_hash, organization_id, project_slug, environment_name, customer_id, false, row_limit, "cursor"
);

comment on function svc_api.customer_timeline(bytea, text, text, text, text, integer, text) is
  'What evaluation emitted about a customer, for processes of a former version.';
