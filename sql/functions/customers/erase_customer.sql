-- Erases one customer: deletes all of its data, in this transaction; {erased: the number of rows of each kind}. Later events with
-- the id begin a new customer. The audit log records who did it and the numbers, not the customer's id.
-- Raises what iam.authorize and iam.record_audit raise, SV004 PROJECT_NOT_FOUND or CUSTOMER_NOT_FOUND. Locks what svc.delete_customer
-- locks.
create or replace function svc_api.erase_customer(
  token_hash bytea, organization_id text, request_id text, project_slug text, environment_name text, customer_id text
)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _environment constant record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'erase_customer');
  _erased json;
begin
  perform svc.require_unfrozen(_environment.environment_id);
  _erased := svc.delete_customer(_environment.environment_id, erase_customer.customer_id);
  perform iam.record_audit(
    _environment.actor, erase_customer.request_id, 'customer.erased', erase_customer.project_slug, erase_customer.environment_name, null,
    _erased::jsonb
  );
  return json_build_object('erased', _erased);
end;
$$;

comment on function svc_api.erase_customer(bytea, text, text, text, text, text) is 'Erases all data of one customer.';
