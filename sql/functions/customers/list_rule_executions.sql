-- As svc_api.search_rule_executions of the present histories, for processes of a version before it; they may run beside the present
-- ones for a while.
-- Raises what that raises. Locks nothing.
create or replace function svc_api.list_rule_executions(
  token_hash bytea, organization_id text, project_slug text, environment_name text,
  customer_id text, rule_id text, result text, since timestamptz, detail boolean, row_limit integer, "cursor" text
)
returns json
language sql
stable
security definer
set search_path = ''
return svc_api.search_rule_executions(
  token_hash, organization_id, project_slug, environment_name, customer_id, rule_id, result, since, detail, false, row_limit, "cursor"
);

comment on function svc_api.list_rule_executions(
  bytea, text, text, text, text, text, text, timestamptz, boolean, integer, text
) is 'The log of the rules, for processes of a former version.';
