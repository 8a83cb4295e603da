-- Everything but events that is needed to replay a customer up to an instant: {customerId, createdAt (ms), traits, traitsText, state,
-- version, hash, configVersion, activeVersion, exactFrom}. version_name is v1, v2 …, null for the active one; version and hash are those of
-- that model, null if none is active. exactFrom is the instant from which all events are stored, if retention may have
-- removed earlier ones of the customer; else null.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND, CUSTOMER_NOT_FOUND or VERSION_NOT_FOUND. Locks nothing.
create or replace function svc_api.begin_time_travel(
  token_hash bytea, organization_id text, project_slug text, environment_name text, customer_id text, version_name text
)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _environment constant record := svc.authorize_environment(
    token_hash, organization_id, project_slug, environment_name, 'explain_customer'
  );
  _version integer := _environment.active_version;
  _kept_from constant timestamptz := svc.retained_from(_environment.environment_id);
  _customer record;
begin
  select c.customer_id, c.created_at, c.traits, c.state into _customer
  from svc.customers as c
  where c.environment_id = _environment.environment_id and c.customer_id = begin_time_travel.customer_id;
  if not found then
    perform svc.raise_customer_not_found(begin_time_travel.customer_id);
  end if;
  if begin_time_travel.version_name is not null then
    _version := svc.find_version(_environment.project_id, begin_time_travel.version_name);
  end if;
  return json_build_object(
    'customerId', _customer.customer_id,
    'createdAt', svc.epoch_ms(_customer.created_at),
    'traits', _customer.traits,
    'traitsText', _customer.traits::text,
    'state', _customer.state,
    'version', _version,
    'hash', (select v.hash from svc.config_versions as v where v.project_id = _environment.project_id and v.version = _version),
    'configVersion', 'v' || _version,
    'activeVersion', 'v' || _environment.active_version,
    'exactFrom', case when _customer.created_at < _kept_from then svc.iso(_kept_from) end
  );
end;
$$;

comment on function svc_api.begin_time_travel(bytea, text, text, text, text, text) is
  'What is needed to replay a customer up to an instant, except events.';
