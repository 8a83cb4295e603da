-- Checks the installation, for the operator only: {checks, violations: [{invariant, holds, organization, project, environment, violations,
-- examples, advice}], migration, workersAlive, pendingOperations, pendingSince, setAsideCustomers, disabledWebhooks, failingWebhooks,
-- frozenEnvironments}, as of one instant; the counts leave out frozen environments. It reads everything, like
-- svc_inspect.invariants().
-- Raises nothing, locks nothing.
create or replace function svc_api.operator_examine()
returns json
language sql
stable
security definer
set search_path = ''
as $$
  select json_build_object(
    'checks', (select count(*) from svc.known_invariants()),
    'violations', (
      select coalesce(json_agg(row_to_json(i)), '[]') from svc_inspect.invariants() as i
    ),
    'migration', (select max(m.filename) from graphile_migrate.migrations as m),
    'workersAlive', (select count(*) from svc_inspect.workers as w where w.alive),
    'pendingOperations', e.pending_operations,
    'pendingSince', svc.iso(e.pending_since),
    'setAsideCustomers', e.set_aside_customers,
    'disabledWebhooks', w.disabled,
    'failingWebhooks', w.failing,
    'frozenEnvironments', e.frozen
  )
  from (
    select
      coalesce(sum(n.pending_operations) filter (where n.frozen_at is null), 0) as pending_operations,
      min(n.pending_since) filter (where n.frozen_at is null) as pending_since,
      coalesce(sum(n.set_aside_customers) filter (where n.frozen_at is null), 0) as set_aside_customers,
      count(n.frozen_at) as frozen
    from svc_inspect.environments as n
  ) as e
  cross join (
    select
      count(*) filter (where h.disabled_at is not null) as disabled,
      count(*) filter (where h.disabled_at is null and h.failing_since is not null) as failing
    from svc_inspect.webhooks as h
    where (h.organization, h.project, h.environment) not in (
      select n.organization, n.project, n.environment from svc_inspect.environments as n where n.frozen_at is not null
    )
  ) as w
$$;

comment on function svc_api.operator_examine() is 'Checks the installation; for the operator only.';
