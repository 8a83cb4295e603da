-- Entries of a customer's history, in the order of the arrays: {at, kind, cause, configVersion, details}. An entry's place is the position
-- of its kind among the branches below, seq its number within that kind, and at its instant. Null for empty arrays.
-- Raises nothing, locks nothing.
create or replace function svc.history_items(
  environment_id integer, customer_id text, generation integer, places integer[], ats timestamptz[], seqs bigint[]
)
returns json[]
language plpgsql
stable
strict
set search_path = ''
-- Force look-ups by key, whatever the statistics say, and plan only once.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  _id constant integer := history_items.environment_id;
  _customer constant text := history_items.customer_id;
  _generation constant integer := history_items.generation;
  _deliveries constant json := svc.deliveries_of(
    _id, array(select u.seq from unnest(history_items.places, history_items.seqs) as u (place, seq) where u.place = 5)
  );
  _items json[];
begin
  select
    array_agg(
      json_build_object(
        'at', svc.iso(r.at),
        'kind', (array['event', 'traits', 'transition', 'score', 'rule', 'emission'])[r.place + 1],
        'cause', case when i.cause_type is not null then json_build_object('type', i.cause_type, 'id', i.cause_id) end,
        'configVersion', 'v' || i.config_version,
        'details', i.details
      )
      order by r.n
    )
  into _items
  from unnest(history_items.places, history_items.ats, history_items.seqs) with ordinality as r (place, at, seq, n)
  left join lateral (
    select
      null as cause_type, null as cause_id, null::integer as config_version,
      json_build_object(
        'eventId', svc.event_id(e.event_seq), 'event', e.event,
        'properties', case when octet_length(e.properties::text) <= 2048 then e.properties end, 'acceptedAt', svc.iso(e.accepted_at)
      ) as details
    from svc.events as e
    where r.place = 0 and e.environment_id = _id and e.event_seq = r.seq
    union all
    select
      null, null, null, json_build_object('traits', case when octet_length(u.traits::text) <= 2048 then u.traits end)
    from svc.trait_updates as u
    where r.place = 1 and u.environment_id = _id and u.operation_seq = r.seq
    union all
    select t.cause_type, t.cause_id, t.config_version, json_build_object('from', t.from_state, 'to', t.to_state)
    from svc.lifecycle_transitions as t
    where r.place = 2 and t.environment_id = _id and t.customer_id = _customer and t.transition_seq = r.seq
    union all
    select h.cause_type, h.cause_id, h.config_version, json_build_object('overall', trim_scale(h.overall), 'band', h.band)
    from svc.health_scores as h
    where r.place = 3
      and h.environment_id = _id
      and h.customer_id = _customer
      and h.generation = _generation
      and h.score_seq = r.seq
    union all
    select
      x.cause_type, x.cause_id, x.config_version,
      json_build_object(
        'ruleId', x.rule_id, 'result', x.result, 'triggeredBy', x.triggered_by, 'action', x.action, 'error', x.error,
        'emissionId', svc.emission_id(x.emission_seq)
      )
    from svc.rule_executions as x
    where r.place = 4
      and x.environment_id = _id
      and x.customer_id = _customer
      and x.generation = _generation
      and x.executed_at = r.at
      and x.execution_seq = r.seq
    union all
    select
      m.cause_type, m.cause_id, m.config_version,
      json_build_object(
        'emissionId', svc.emission_id(m.emission_seq), 'eventType', m.event_type, 'source', m.source,
        'metadata', case when octet_length(m.metadata::text) <= 2048 then m.metadata end,
        'deliveries', _deliveries -> m.emission_seq::text
      )
    from svc.emissions as m
    where r.place = 5 and m.environment_id = _id and m.emission_seq = r.seq
  ) as i on true;
  return _items;
end;
$$;

comment on function svc.history_items(integer, text, integer, integer[], timestamptz[], bigint[]) is
  'Entries of a customer''s history.';
