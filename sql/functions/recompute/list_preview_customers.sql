-- The customers that a preview would change, each with its difference: by_id in order of their ids, else the largest differences first.
-- While it runs, the list grows; in the order of ids, only at its end.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND or PREVIEW_NOT_FOUND, SV006 VALIDATION_ERROR (cursor). Locks nothing.
create or replace function svc_api.list_preview_customers(
  token_hash bytea, organization_id text, project_slug text, environment_name text,
  preview_id text, by_id boolean, row_limit integer, "cursor" text
)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _environment constant record := svc.authorize_environment(
    token_hash, organization_id, project_slug, environment_name, 'list_preview_customers'
  );
  _preview constant svc.recomputes := svc.find_job(_environment.environment_id, list_preview_customers.preview_id, 'preview');
begin
  return svc.recompute_page(
    'preview_customers', _environment.environment_id, _preview.recompute_id, list_preview_customers.by_id,
    list_preview_customers.row_limit, list_preview_customers.cursor
  );
end;
$$;

comment on function svc_api.list_preview_customers(bytea, text, text, text, text, boolean, integer, text) is
  'The customers that a preview would change, with their differences.';
