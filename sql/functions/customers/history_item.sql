-- An entry of a customer's history: {at, kind, cause, configVersion, details}. place says which kind it is of, in the order of the branches
-- below, and seq is its number there; at is its instant. Null for one that does not exist.
-- Raises nothing, locks nothing.
create or replace function svc.history_item(
  environment_id integer, customer_id text, generation integer, place integer, at timestamptz, seq bigint
)
returns json
language plpgsql
stable
strict
set search_path = ''
as $$
declare
  _id constant integer := history_item.environment_id;
  _customer constant text := history_item.customer_id;
  _seq constant bigint := history_item.seq;
  _cause_type text;
  _cause_id text;
  _version integer;
  _details json;
  _deliveries json;
begin
  case history_item.place
    when 0 then
      select json_build_object(
        'eventId', svc.event_id(e.event_seq), 'event', e.event,
        'properties', case when octet_length(e.properties::text) <= 2048 then e.properties end, 'acceptedAt', svc.iso(e.accepted_at)
      )
      into _details
      from svc.events as e
      where e.environment_id = _id and e.event_seq = _seq;
    when 1 then
      select json_build_object('traits', case when octet_length(u.traits::text) <= 2048 then u.traits end) into _details
      from svc.trait_updates as u
      where u.environment_id = _id and u.operation_seq = _seq;
    when 2 then
      select t.cause_type, t.cause_id, t.config_version, json_build_object('from', t.from_state, 'to', t.to_state)
      into _cause_type, _cause_id, _version, _details
      from svc.lifecycle_transitions as t
      where t.environment_id = _id and t.customer_id = _customer and t.transition_seq = _seq;
    when 3 then
      select h.cause_type, h.cause_id, h.config_version, json_build_object('overall', trim_scale(h.overall), 'band', h.band)
      into _cause_type, _cause_id, _version, _details
      from svc.health_scores as h
      where h.environment_id = _id and h.customer_id = _customer and h.generation = history_item.generation and h.score_seq = _seq;
    when 4 then
      select
        x.cause_type, x.cause_id, x.config_version,
        json_build_object(
          'ruleId', x.rule_id, 'result', x.result, 'triggeredBy', x.triggered_by, 'action', x.action, 'error', x.error,
          'emissionId', svc.emission_id(x.emission_seq)
        )
      into _cause_type, _cause_id, _version, _details
      from svc.rule_executions as x
      where x.environment_id = _id
        and x.customer_id = _customer
        and x.generation = history_item.generation
        and x.executed_at = history_item.at
        and x.execution_seq = _seq;
    else
      _deliveries := svc.deliveries_of(_id, _seq);
      select
        m.cause_type, m.cause_id, m.config_version,
        json_build_object(
          'emissionId', svc.emission_id(m.emission_seq), 'eventType', m.event_type, 'source', m.source,
          'metadata', case when octet_length(m.metadata::text) <= 2048 then m.metadata end,
          'deliveries', _deliveries
        )
      into _cause_type, _cause_id, _version, _details
      from svc.emissions as m
      where m.environment_id = _id and m.emission_seq = _seq;
  end case;
  return json_build_object(
    'at', svc.iso(history_item.at),
    'kind', (array['event', 'traits', 'transition', 'score', 'rule', 'emission'])[history_item.place + 1],
    'cause', case when _cause_type is not null then json_build_object('type', _cause_type, 'id', _cause_id) end,
    'configVersion', 'v' || _version,
    'details', _details
  );
end;
$$;

comment on function svc.history_item(integer, text, integer, integer, timestamptz, bigint) is 'An entry of a customer''s history.';
