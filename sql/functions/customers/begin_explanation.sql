-- Everything but history that explaining a customer's state takes: {customerId, createdAt (ms), traits, state, version, hash, asOf,
-- configVersion, activeVersion, score, setAside, pending}. version and hash are those of the model that the state was computed under.
-- score is the present one with when, why and under which version it came about. explained is health, or customer for all of the model.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND or CUSTOMER_NOT_FOUND. Locks nothing.
create or replace function svc_api.begin_explanation(
  token_hash bytea, organization_id text, project_slug text, environment_name text, customer_id text, explained text
)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _actor constant iam.actor := iam.authorize(
    begin_explanation.token_hash, begin_explanation.organization_id, 'explain_' || begin_explanation.explained,
    begin_explanation.environment_name
  );
  _environment constant record := svc.find_environment(
    begin_explanation.organization_id, begin_explanation.project_slug, begin_explanation.environment_name
  );
begin
  perform svc.require_customer(_environment.environment_id, begin_explanation.customer_id);
  return (
    select json_build_object(
      'customerId', c.customer_id,
      'createdAt', floor(extract(epoch from c.created_at) * 1000)::bigint,
      'traits', c.traits,
      'state', c.state,
      'version', c.config_version,
      'hash', v.hash,
      'asOf', svc.iso(c.evaluated_through),
      'configVersion', 'v' || c.config_version,
      'activeVersion', 'v' || _environment.active_version,
      'score', case when c.health is not null then json_build_object(
        'overall', c.health -> 'overall', 'band', c.health -> 'band', 'scoredAt', svc.iso(h.scored_at),
        'components', c.health -> 'components', 'configVersion', 'v' || h.config_version,
        'cause', case when h.cause_type is not null then json_build_object('type', h.cause_type, 'id', h.cause_id) end
      ) end,
      'setAside', case when c.set_aside_at is not null
        then json_build_object('at', svc.iso(c.set_aside_at), 'error', c.set_aside_error)
      end,
      'pending', (
        select count(*)
        from (
          select from svc.inbox as i
          where i.environment_id = c.environment_id and i.customer_id = c.customer_id
          limit 10000
        ) as w
      )
    )
    from svc.customers as c
    left join svc.config_versions as v on v.project_id = _environment.project_id and v.version = c.config_version
    left join lateral (
      select s.scored_at, s.config_version, s.cause_type, s.cause_id
      from svc.health_scores as s
      where s.environment_id = c.environment_id and s.customer_id = c.customer_id and s.generation = c.generation
      order by s.score_seq desc
      limit 1
    ) as h on true
    where c.environment_id = _environment.environment_id and c.customer_id = begin_explanation.customer_id
  );
end;
$$;

comment on function svc_api.begin_explanation(bytea, text, text, text, text, text) is
  'What explaining a customer''s state takes, but history and model.';
