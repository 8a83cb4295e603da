-- An event, with the changes that it caused in its customer's current history: entries like those of svc_api.list_history, in the order in
-- which they happened, at most a hundred. Rule executions are searched for among the 2,000 that follow the event's occurrence.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND and EVENT_NOT_FOUND. Locks nothing.
create or replace function svc_api.get_event(
  token_hash bytea, organization_id text, project_slug text, environment_name text, event_id text
)
returns json
language plpgsql
stable
security definer
set search_path = ''
-- Force look-ups by customer, whatever the statistics say.
set enable_seqscan = off
as $$
declare
  _environment constant record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'get_event');
  _id constant integer := _environment.environment_id;
  _event svc.events;
  _generation integer;
  _pending boolean;
  _places integer[];
  _ats timestamptz[];
  _seqs bigint[];
begin
  select e.* into _event
  from svc.events as e
  where e.environment_id = _id and e.event_seq = svc_inspect.event_seq(get_event.event_id);
  if not found then
    perform svc.raise_not_found(
      'EVENT_NOT_FOUND', 'event', get_event.event_id, 'in this environment',
      'Check the id and the environment; old events are removed, and those of customers that were erased.'
    );
  end if;
  select c.generation into _generation
  from svc.customers as c
  where c.environment_id = _id and c.customer_id = _event.customer_id;

  select array_agg(r.place), array_agg(r.at), array_agg(r.seq)
  into _places, _ats, _seqs
  from (
    select p.place, p.at, p.seq
    from (
      select 2 as place, t.transitioned_at as at, t.transition_seq as seq
      from svc.lifecycle_transitions as t
      where t.environment_id = _id
        and t.customer_id = _event.customer_id
        and t.generation = _generation
        and t.cause_id = get_event.event_id
      union all
      select 3, h.scored_at, h.score_seq
      from svc.health_scores as h
      where h.environment_id = _id
        and h.customer_id = _event.customer_id
        and h.generation = _generation
        and h.cause_id = get_event.event_id
      union all
      select 4, x.executed_at, x.execution_seq
      from (
        select k.executed_at, k.execution_seq, k.result, k.cause_id
        from svc.rule_executions as k
        where k.environment_id = _id
          and k.customer_id = _event.customer_id
          and k.generation = _generation
          and k.executed_at >= date_trunc('milliseconds', _event.occurred_at)
        order by k.executed_at, k.execution_seq
        limit 2000
      ) as x
      where x.result in ('pass', 'error') and x.cause_id = get_event.event_id
      union all
      select 5, m.emitted_at, m.emission_seq
      from svc.emissions as m
      where m.environment_id = _id and m.customer_id = _event.customer_id and m.cause_id = get_event.event_id
    ) as p
    order by p.at, p.place, p.seq
    limit 100
  ) as r;

  _pending := exists (
    select 1 from svc.inbox as i where i.environment_id = _id and i.customer_id = _event.customer_id and i.seq = _event.event_seq
  );
  return svc.with_members(
    svc.event_item(
      _event.event_seq, _event.customer_id, _event.event, _event.properties, _event.occurred_at, _event.accepted_at, _pending
    ),
    json_build_object(
      'caused',
      coalesce(to_json(svc.history_items(_id, _event.customer_id, _generation, _places, _ats, _seqs)), '[]')
    )
  );
end;
$$;

comment on function svc_api.get_event(bytea, text, text, text, text) is 'An event, with the changes that it caused.';
