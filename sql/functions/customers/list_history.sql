-- A customer's history, newest first: events, updates of traits, transitions, changes of the health score, rule executions that
-- acted or failed, and emissions with the status of their deliveries. Within one instant, effects come before their cause. Logs that a
-- recompute rewrites are shown in their current version. Payloads of more than 2 KiB are null. Events and executions are read by index as
-- far as the page needs, all other rows of the customer completely. kinds are those of svc.history_items, null for all; later entries than
-- `at` are left out, null for none.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND or CUSTOMER_NOT_FOUND, SV006 VALIDATION_ERROR (cursor). Locks nothing.
create or replace function svc_api.list_history(
  token_hash bytea, organization_id text, project_slug text, environment_name text, customer_id text, kinds text[], at timestamptz,
  row_limit integer, "cursor" text
)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _environment constant record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'list_history');
  _id constant integer := _environment.environment_id;
  -- Microseconds, place of the kind, number.
  _position constant text[] := string_to_array(
    coalesce(
      svc.decode_cursor('history', list_history.cursor, '^-?[0-9]{1,18} [0-9] -?[0-9]{1,18}$'),
      '999999999999999999 9 0'
    ),
    ' '
  );
  _at constant timestamptz := case
    when list_history.cursor is null then coalesce(list_history.at, 'infinity') else svc.instant_of(_position[1]::bigint)
  end;
  _place constant integer := _position[2];
  _seq constant bigint := _position[3];
  _kinds constant text[] := coalesce(list_history.kinds, array['event', 'traits', 'transition', 'score', 'rule', 'emission']);
  _generation integer;
  _places integer[];
  _ats timestamptz[];
  _seqs bigint[];
  _positions text[];
begin
  select c.generation into _generation
  from svc.customers as c
  where c.environment_id = _id and c.customer_id = list_history.customer_id;
  if not found then
    perform svc.raise_customer_not_found(list_history.customer_id);
  end if;

  select
    array_agg(r.place order by r.n), array_agg(r.at order by r.n), array_agg(r.seq order by r.n),
    array_agg(concat_ws(' ', svc.microseconds(r.at), r.place, r.seq) order by r.n)
  into _places, _ats, _seqs, _positions
  from (
    select row_number() over (order by p.at desc, p.place desc, p.seq desc) as n, p.at, p.place, p.seq
    from (
      (
        select e.occurred_at as at, 0 as place, e.event_seq as seq
        from svc.events as e
        where 'event' = any(_kinds)
          and e.environment_id = _id
          and e.customer_id = list_history.customer_id
          and e.occurred_at <= _at
          and (e.occurred_at, 0, e.event_seq) < (_at, _place, _seq)
        order by e.occurred_at desc, e.event_seq desc
        limit list_history.row_limit + 1
      )
      union all
      (
        select u.accepted_at, 1, u.operation_seq
        from svc.trait_updates as u
        where 'traits' = any(_kinds)
          and u.environment_id = _id
          and u.customer_id = list_history.customer_id
          and (u.accepted_at, 1, u.operation_seq) < (_at, _place, _seq)
        order by u.accepted_at desc, u.operation_seq desc
        limit list_history.row_limit + 1
      )
      union all
      (
        select t.transitioned_at, 2, t.transition_seq
        from svc.lifecycle_transitions as t
        where 'transition' = any(_kinds)
          and t.environment_id = _id
          and t.customer_id = list_history.customer_id
          and t.generation = _generation
          and (t.transitioned_at, 2, t.transition_seq) < (_at, _place, _seq)
        order by t.transitioned_at desc, t.transition_seq desc
        limit list_history.row_limit + 1
      )
      union all
      (
        select h.scored_at, 3, h.score_seq
        from svc.health_scores as h
        where 'score' = any(_kinds)
          and h.environment_id = _id
          and h.customer_id = list_history.customer_id
          and h.generation = _generation
          and (h.scored_at, 3, h.score_seq) < (_at, _place, _seq)
        order by h.scored_at desc, h.score_seq desc
        limit list_history.row_limit + 1
      )
      union all
      (
        select x.executed_at, 4, x.execution_seq
        from svc.rule_executions as x
        where 'rule' = any(_kinds)
          and x.environment_id = _id
          and x.customer_id = list_history.customer_id
          and x.generation = _generation
          and x.executed_at <= _at
          and x.result in ('pass', 'error')
          and (x.executed_at, 4, x.execution_seq) < (_at, _place, _seq)
        order by x.executed_at desc, x.execution_seq desc
        limit list_history.row_limit + 1
      )
      union all
      (
        select m.emitted_at, 5, m.emission_seq
        from svc.emissions as m
        where 'emission' = any(_kinds)
          and m.environment_id = _id
          and m.customer_id = list_history.customer_id
          and (m.emitted_at, 5, m.emission_seq) < (_at, _place, _seq)
        order by m.emitted_at desc, m.emission_seq desc
        limit list_history.row_limit + 1
      )
    ) as p
    order by n
    limit list_history.row_limit + 1
  ) as r;

  return svc.page(
    'history',
    svc.history_items(_id, list_history.customer_id, _generation, _places, _ats, _seqs),
    _positions,
    list_history.row_limit
  );
end;
$$;

comment on function svc_api.list_history(bytea, text, text, text, text, text[], timestamptz, integer, text) is
  'A customer''s history: events, traits, transitions, scores, rules and emissions, newest first.';
