-- How long customers had been in the states that they left, from the last 2,000 transitions of the environment, without those that a
-- recompute replaced: {transitions: how many were read, states: [{state, left: how often, seconds: quartiles}]}, the states by name.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND. Locks nothing.
create or replace function svc_api.get_transition_times(
  token_hash bytea, organization_id text, project_slug text, environment_name text
)
returns json
language plpgsql
stable
security definer
set search_path = ''
-- Force index scans, whatever the statistics say.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  _environment constant record := svc.authorize_environment(
    token_hash, organization_id, project_slug, environment_name, 'get_transition_times'
  );
  _id constant integer := _environment.environment_id;
  _newest svc.lifecycle_transitions[];
begin
  _newest := array(select n from svc.newest_transitions(_id, null, 9223372036854775807, 2000) as n);
  return (
    with looked as materialized (
      select n.customer_id, n.transition_seq, n.from_state, n.transitioned_at, n.generation
      from unnest(_newest) as n
      cross join lateral (
        select 1
        from svc.customers as c
        where c.environment_id = _id and c.customer_id = n.customer_id and c.generation = n.generation
        limit 1
      ) as c
    ),
    states as (
      select
        l.from_state as state,
        count(*) as departures,
        percentile_cont(array[0.25, 0.5, 0.75])
          within group (order by extract(epoch from l.transitioned_at - p.transitioned_at)) as quartiles
      from looked as l
      cross join lateral (
        select t.transitioned_at
        from svc.lifecycle_transitions as t
        where t.environment_id = _id
          and t.customer_id = l.customer_id
          and t.transition_seq < l.transition_seq
          and t.generation = l.generation
        order by t.transition_seq desc
        limit 1
      ) as p
      group by l.from_state
    )
    select json_build_object(
      'transitions', (select count(*) from looked),
      'states', coalesce(
        json_agg(
          json_build_object('state', s.state, 'left', s.departures, 'seconds', svc.quartiles(s.quartiles)) order by s.state
        ),
        '[]'
      )
    )
    from states as s
  );
end;
$$;

comment on function svc_api.get_transition_times(bytea, text, text, text) is 'How long customers had been in the states that they left.';
