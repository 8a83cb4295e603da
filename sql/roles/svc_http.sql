-- What the HTTP process may do: call these functions, and nothing else. This file is the list of its API.
revoke execute on all functions in schema iam, svc, svc_api from public;

grant usage on schema svc_api to svc_http;
grant execute on function
  svc_api.authenticate_key(bytea),
  svc_api.authorize_request(bytea, text, text, text),
  svc_api.create_project(bytea, text, text, text, text, bytea, text, bytea, text),
  svc_api.create_webhook(bytea, text, text, text, text, text, text[], bytea),
  svc_api.customer_backlog(bytea, text, text, text, text),
  svc_api.customer_timeline(bytea, text, text, text, text, integer, text),
  svc_api.deploy_config(bytea, text, text, text, text, text, text, jsonb),
  svc_api.get_customer(bytea, text, text, text, text),
  svc_api.get_overview(bytea, text, text, text),
  svc_api.get_segment(bytea, text, text, text, text, integer, text),
  svc_api.ingest(bytea, uuid, text, boolean, boolean),
  svc_api.list_config_versions(bytea, text, text, text, integer, text),
  svc_api.list_customers(bytea, text, text, text, text, text, double precision, boolean, integer, text),
  svc_api.list_deliveries(bytea, text, text, text, text, integer, text),
  svc_api.list_schema_violations(bytea, text, text, text, integer, integer, text),
  svc_api.list_webhooks(bytea, text, text, text, integer, text),
  svc_api.release_customers(bytea, text, text, text, text, text),
  svc_api.unready_reasons(),
  svc_api.whoami(bytea, text)
to svc_http;
