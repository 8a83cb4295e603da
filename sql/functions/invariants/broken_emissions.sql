-- Emissions that will never be delivered, or that are missing. Evaluation writes them with their row of svc.emission_batches; a recompute
-- writes those of many customers earlier, and its own row identifies them until then. An erasure deletes emissions and records their number
-- in the audit log; if it deletes a recompute of the erased customer alone, that recompute's record of them is deleted, too.
-- Raises nothing, locks nothing.
create or replace function svc.broken_emissions()
returns table (invariant text, environment_id integer, example text)
language sql
stable
set search_path = ''
as $$
  with stored as (
    select m.environment_id, m.emission_seq >> 16 as evaluation_seq, count(*) as emissions, max(m.emission_seq & 65535) as last_position
    from svc.emissions as m
    group by m.environment_id, m.emission_seq >> 16
  ),
  told as (
    select b.environment_id, b.evaluation_seq, b.emissions from svc.emission_batches as b
    union all
    select r.environment_id, r.outbox_seq, r.outbox_emissions from svc.recomputes as r where r.outbox_seq is not null
  ),
  pairs as (
    select
      environment_id, evaluation_seq, t.emissions as told, coalesce(s.emissions, 0) as stored,
      coalesce(s.last_position, -1) as last_position
    from told as t
    full join stored as s using (environment_id, evaluation_seq)
  ),
  accounts as (
    select
      p.environment_id, sum(p.stored) as stored, coalesce(sum(p.told), 0) - coalesce(min(x.emissions), 0) as expected,
      coalesce(min(x.recomputes), 0) as recomputes_erased
    from pairs as p
    left join svc.erased_rows() as x on x.environment_id = p.environment_id
    group by p.environment_id
  )
  select
    'emissions_are_told', p.environment_id,
    format('%s emissions from %s on', p.stored, svc.emission_id(p.evaluation_seq << 16))
  from pairs as p
  where p.told is null
  union all
  select
    'emissions_are_told', p.environment_id,
    format(
      'of the emissions from %s on, %s are in the outbox; there are %s, up to the position %s', svc.emission_id(p.evaluation_seq << 16),
      p.told, p.stored, p.last_position
    )
  from pairs as p
  where p.stored > p.told or p.last_position >= p.told
  union all
  select
    'emissions_are_stored', a.environment_id,
    format('%s emissions were written and not erased; there are %s', a.expected, a.stored)
  from accounts as a
  where a.stored < a.expected or (a.stored > a.expected and a.recomputes_erased = 0)
  union all
  select 'rows_belong_to_an_environment', b.environment_id, format('the emissions from %s on', svc.emission_id(b.evaluation_seq << 16))
  from svc.emission_batches as b
  left join svc.environments as e on e.environment_id = b.environment_id
  where e.environment_id is null
$$;

comment on function svc.broken_emissions() is 'Invariants: emissions and the outbox.';
