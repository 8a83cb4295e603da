-- Opens the cursors from which a customer's export is read (svc.open_customer_export), on the caller's snapshot, and answers the members
-- of the document that are not lists. svc_api.export_customer has recorded the export before.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND or CUSTOMER_NOT_FOUND. Locks nothing.
create or replace function svc_api.open_export(
  token_hash bytea, organization_id text, project_slug text, environment_name text, customer_id text
)
returns json
language plpgsql
-- Not stable, because it leaves cursors open.
volatile
security definer
set search_path = ''
as $$
declare
  _environment constant record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'export_customer');
begin
  perform svc.require_known_customer(_environment.environment_id, open_export.customer_id);
  return svc.open_customer_export(_environment.environment_id, open_export.customer_id);
end;
$$;

comment on function svc_api.open_export(bytea, text, text, text, text) is 'Opens the cursors from which a customer''s export is read.';
