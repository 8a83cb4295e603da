-- Everything but events that is needed to explain a customer's state: {customerId, createdAt (ms), traits, state, version, hash, asOf,
-- configVersion, activeVersion, score, setAside, pending}. version and hash are those of the model under which the state was computed.
-- score is the current one, with its instant, cause and version. explained is health, or customer for the whole model.
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
  _environment constant record := svc.authorize_environment(
    token_hash, organization_id, project_slug, environment_name, 'explain_' || explained
  );
  _customer record;
begin
  select
    c.customer_id, c.created_at, c.traits, c.state, c.config_version, c.evaluated_through, c.health, c.set_aside_at, c.set_aside_error,
    h.scored_at, h.config_version as scored_under, h.cause_type, h.cause_id,
    (
      select count(*)
      from (
        select 1 from svc.inbox as i
        where i.environment_id = _environment.environment_id and i.customer_id = begin_explanation.customer_id
        limit 10000
      ) as w
    ) as pending
  into _customer
  from svc.customers as c
  left join lateral (
    select s.scored_at, s.config_version, s.cause_type, s.cause_id
    from svc.health_scores as s
    where s.environment_id = _environment.environment_id and s.customer_id = c.customer_id and s.generation = c.generation
    order by s.score_seq desc
    limit 1
  ) as h on true
  where c.environment_id = _environment.environment_id and c.customer_id = begin_explanation.customer_id;
  if not found then
    perform svc.raise_customer_not_found(begin_explanation.customer_id);
  end if;

  return json_build_object(
    'customerId', _customer.customer_id,
    'createdAt', svc.epoch_ms(_customer.created_at),
    'traits', _customer.traits,
    'state', _customer.state,
    'version', _customer.config_version,
    'hash', (
      select v.hash from svc.config_versions as v
      where v.project_id = _environment.project_id and v.version = _customer.config_version
    ),
    'asOf', svc.iso(_customer.evaluated_through),
    'configVersion', 'v' || _customer.config_version,
    'activeVersion', 'v' || _environment.active_version,
    'score', case when _customer.health is not null then json_build_object(
      'overall', _customer.health -> 'overall', 'band', _customer.health -> 'band', 'scoredAt', svc.iso(_customer.scored_at),
      'components', _customer.health -> 'components', 'configVersion', 'v' || _customer.scored_under,
      'cause', case
        when _customer.cause_type is not null then json_build_object('type', _customer.cause_type, 'id', _customer.cause_id)
      end
    ) end,
    'setAside', case when _customer.set_aside_at is not null
      then json_build_object('at', svc.iso(_customer.set_aside_at), 'error', _customer.set_aside_error)
    end,
    'pending', _customer.pending
  );
end;
$$;

comment on function svc_api.begin_explanation(bytea, text, text, text, text, text) is
  'What is needed to explain a customer''s state, except events and model.';
