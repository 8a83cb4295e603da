-- The distribution of an environment's customers at an instant, according to the current histories: how many there were, in each lifecycle
-- state and in each segment, in the author's order (followed by those not in the active configuration), in each health band, with the mean
-- and the quartiles of the scores. A recompute rewrites a customer's history: of health it writes only the latest score, and of a segment
-- the last membership. So recomputedAt is as in svc.recomputed_after: unless it is null, segments and health only cover customers whose
-- records begin before the instant. Reads the logs of all customers, so its duration is proportional to them.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND. Locks nothing.
create or replace function svc_api.get_population(
  token_hash bytea, organization_id text, project_slug text, environment_name text, at timestamptz
)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _environment constant record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'get_population');
  _id constant integer := _environment.environment_id;
  _declared_states constant text[] := svc.part_names(_environment.project_id, _environment.active_version, 'state');
  _declared_segments constant text[] := svc.part_names(_environment.project_id, _environment.active_version, 'segment');
  -- Not within the statement that returns it: a cluster would call it on a node, which cannot ask the others.
  _recomputed_at constant timestamptz := svc.recomputed_after(_id, get_population.at);
  _states json;
  _segments json;
  _health json;
begin
  with counted as (
    select l.to_state, count(*) as customers
    from (
      select distinct on (t.customer_id) t.to_state
      from svc.lifecycle_transitions as t
      join svc.customers as c
        on c.environment_id = _id and c.customer_id = t.customer_id and c.generation = t.generation
      where t.environment_id = _id and t.transitioned_at <= get_population.at
      order by t.customer_id, t.transition_seq desc
    ) as l
    group by l.to_state
  )
  select coalesce(
    json_agg(
      json_build_object('state', coalesce(d.state, c.to_state), 'customers', coalesce(c.customers, 0)) order by d.n, c.to_state
    ),
    '[]'
  )
  into _states
  from unnest(_declared_states) with ordinality as d (state, n)
  full join counted as c on c.to_state = d.state;

  with counted as (
    select m.segment_id, count(*) as members from svc.memberships_at(_id, get_population.at) as m group by m.segment_id
  )
  select coalesce(
    json_agg(
      json_build_object('segment', coalesce(d.segment, c.segment_id), 'members', coalesce(c.members, 0))
      order by d.n, c.segment_id collate "C"
    ),
    '[]'
  )
  into _segments
  from unnest(_declared_segments) with ordinality as d (segment, n)
  full join counted as c on c.segment_id = d.segment;

  with scores as materialized (
    select distinct on (h.customer_id) h.overall, h.band
    from svc.health_scores as h
    join svc.customers as c
      on c.environment_id = _id and c.customer_id = h.customer_id and c.generation = h.generation
    where h.environment_id = _id and h.scored_at <= get_population.at
    order by h.customer_id, h.score_seq desc
  )
  select json_build_object(
    'scored', count(s.overall),
    'average', round(avg(s.overall), 2),
    'quartiles', svc.quartiles(percentile_cont(array[0.25, 0.5, 0.75]) within group (order by s.overall::double precision)),
    'bands', (
      select coalesce(json_object_agg(b.band, b.customers order by b.band), '{}')
      from (select k.band, count(*) as customers from scores as k where k.band is not null group by k.band) as b
    )
  )
  into _health
  from scores as s;

  return json_build_object(
    'environment', get_population.environment_name,
    'at', svc.iso(get_population.at),
    'recomputedAt', svc.iso(_recomputed_at),
    'customers', (
      select count(*)
      from svc.customers as c
      where c.environment_id = _id
        and (
          c.created_at <= get_population.at
          -- A history that was sent later.
          or (
            select true
            from svc.events as e
            where e.environment_id = _id and e.customer_id = c.customer_id and e.occurred_at <= get_population.at
            limit 1
          )
          -- Retention may have removed its events, but not what came of them.
          or (
            select true
            from svc.lifecycle_transitions as t
            where t.environment_id = _id and t.customer_id = c.customer_id and t.generation = c.generation
              and t.transitioned_at <= get_population.at
            limit 1
          )
          or (
            select true
            from svc.health_scores as h
            where h.environment_id = _id and h.customer_id = c.customer_id and h.generation = c.generation
              and h.scored_at <= get_population.at
            limit 1
          )
          or (
            select true
            from svc.segment_memberships as m
            where m.environment_id = _id and m.customer_id = c.customer_id and m.entered_at <= get_population.at
            limit 1
          )
        )
    ),
    'lifecycle', _states,
    'segments', _segments,
    'health', _health
  );
end;
$$;

comment on function svc_api.get_population(bytea, text, text, text, timestamptz) is
  'The distribution of an environment''s customers at an instant, according to the current histories.';
