-- What is wrong with an organization, an environment or the numbers that all share. Sequences are read as they are now, not as of the
-- statement's snapshot; they only rise.
-- Raises nothing, locks nothing.
create or replace function svc.broken_installation()
returns table (invariant text, environment_id integer, example text)
language sql
stable
set search_path = ''
as $$
  with activated as (
    select distinct on (a.environment_id) a.environment_id, a.version
    from svc.config_activations as a
    order by a.environment_id, a.activation_seq desc
  ),
  numbers as (
    select 'svc.batch_seq' as counter, (select max(b.batch_seq) from svc.ingest_batches as b) as used
    union all
    select 'svc.evaluation_seq', (select max(b.evaluation_seq) from svc.emission_batches as b)
  )
  select
    'active_versions_are_those_activated_last', e.environment_id,
    format('%s is active; %s was activated last', coalesce('v' || e.active_version, 'none'), coalesce('v' || a.version, 'none'))
  from svc.environments as e
  left join activated as a on a.environment_id = e.environment_id
  where e.active_version is distinct from a.version
  union all
  select 'organizations_have_an_owner', null, format('the organization %s', o.slug)
  from iam.organizations as o
  left join iam.memberships as m on m.organization_id = o.organization_id and m.role = 'owner'
  where m.user_id is null
  union all
  select
    'numbers_are_ahead_of_what_is_stored', null,
    format('%s is at %s, and %s is in use', n.counter, coalesce(pg_sequence_last_value(n.counter::regclass), 0), n.used)
  from numbers as n
  where n.used > coalesce(pg_sequence_last_value(n.counter::regclass), 0)
$$;

comment on function svc.broken_installation() is 'Invariants: organizations, environments and sequences.';
