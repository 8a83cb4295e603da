-- As svc_api.search_customers with fewer filters, for processes of a version before it; they may run beside the present ones for a while.
-- Raises what that raises. Locks nothing.
create or replace function svc_api.list_customers(
  token_hash bytea, organization_id text, project_slug text, environment_name text,
  lifecycle text, segment text, inactive_seconds double precision, set_aside boolean, row_limit integer, "cursor" text
)
returns json
language sql
stable
security definer
set search_path = ''
return svc_api.search_customers(
  token_hash, organization_id, project_slug, environment_name, lifecycle, segment, null, null, null, null, inactive_seconds, set_aside,
  null, false, row_limit, "cursor"
);

comment on function svc_api.list_customers(bytea, text, text, text, text, text, double precision, boolean, integer, text) is
  'Customers, filtered, for processes of a former version.';
