-- An emission, with the rule execution that made it, and the status at each webhook of the environment that has a delivery of it.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND and EMISSION_NOT_FOUND. Locks nothing.
create or replace function svc_api.get_emission(
  token_hash bytea, organization_id text, project_slug text, environment_name text, emission_id text
)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _environment constant record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'get_emission');
  _seq constant bigint := svc_inspect.emission_seq(get_emission.emission_id);
  _emission svc.emissions;
begin
  select m.* into _emission
  from svc.emissions as m
  where m.environment_id = _environment.environment_id and m.emission_seq = _seq;
  if not found then
    perform svc.raise_not_found(
      'EMISSION_NOT_FOUND', 'emission', get_emission.emission_id, 'in this environment',
      'Check the id and the environment; the timeline of a customer lists what was emitted about it.'
    );
  end if;

  return json_build_object(
    'id', svc.emission_id(_emission.emission_seq),
    'eventType', _emission.event_type,
    'type', _emission.event_type,
    'customerId', _emission.customer_id,
    'source', _emission.source,
    'metadata', _emission.metadata,
    'timestamp', svc.iso(_emission.emitted_at),
    'createdAt', svc.iso(_emission.created_at),
    'configVersion', 'v' || _emission.config_version,
    'cause', json_build_object('type', _emission.cause_type, 'id', _emission.cause_id),
    'sequence', _emission.emission_seq,
    'ruleExecution', svc.emitting_run(_emission),
    'deliveries', svc.deliveries_of(_emission.environment_id, array[_emission.emission_seq]) -> _emission.emission_seq::text
  );
end;
$$;

comment on function svc_api.get_emission(bytea, text, text, text, text) is 'An emission, with its status at each webhook.';
