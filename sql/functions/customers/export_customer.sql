-- Records that all data of a customer is about to be exported, and checks that there is any, like svc.require_known_customer. The audit log
-- records who asked, not the customer's id.
-- Raises what iam.authorize and iam.record_audit raise, SV004 PROJECT_NOT_FOUND or CUSTOMER_NOT_FOUND. Locks nothing.
create or replace function svc_api.export_customer(
  token_hash bytea, organization_id text, request_id text, project_slug text, environment_name text, customer_id text
)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _environment constant record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'export_customer');
begin
  perform svc.require_known_customer(_environment.environment_id, export_customer.customer_id);
  perform iam.record_audit(
    _environment.actor, export_customer.request_id, 'customer.exported', export_customer.project_slug, export_customer.environment_name,
    null, null
  );
end;
$$;

comment on function svc_api.export_customer(bytea, text, text, text, text, text) is
  'Records in the audit log that all data of a customer is exported.';
