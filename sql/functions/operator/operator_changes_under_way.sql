-- What may still change an environment that was just frozen: {frozenAt, unfrozenAt, transactions: [{id, pid}], deliveringUntil}. frozenAt
-- differs from what freezing it answered if it was unfrozen or deleted since, and is null if it is not frozen; unfrozenAt is when it was
-- last unfrozen, which deleting it is not. transactions are all that are running in this database now: any that was running when the freeze
-- was committed may not have seen it. deliveringUntil is the end of the last lease of a webhook of the environment, in seconds from now, 0
-- for none: until then a worker may have a delivery in progress and record its outcome.
-- Raises nothing, locks nothing.
create or replace function svc_api.operator_changes_under_way(environment_id integer)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _frozen_at timestamptz;
  _unfrozen_at timestamptz;
  _transactions json;
  _delivering interval;
begin
  select e.frozen_at, (
    select max(a.at)
    from iam.audit_log as a
    where a.organization_id = p.organization_id and a.action = 'environment.unfrozen' and a.project = p.slug and a.environment = e.name
  )
  into _frozen_at, _unfrozen_at
  from svc.environments as e
  join svc.projects as p on p.project_id = e.project_id
  where e.environment_id = operator_changes_under_way.environment_id;

  -- Each transaction locks its own virtual id from its beginning on, before it reads. Transactions of the server itself, such as a vacuum,
  -- belong to no user.
  select coalesce(json_agg(json_build_object('id', l.virtualtransaction, 'pid', l.pid) order by l.pid), '[]') into _transactions
  from pg_catalog.pg_locks as l
  join pg_catalog.pg_stat_activity as a on a.pid = l.pid
  where l.locktype = 'virtualxid' and l.granted and l.pid <> pg_backend_pid()
    and a.datname = current_database() and a.usesysid is not null;

  select max(w.leased_until) - clock_timestamp() into _delivering
  from svc.webhooks as w
  where w.environment_id = operator_changes_under_way.environment_id;
  return json_build_object(
    'frozenAt', svc.iso(_frozen_at), 'unfrozenAt', svc.iso(_unfrozen_at), 'transactions', _transactions,
    'deliveringUntil', greatest(0, coalesce(extract(epoch from _delivering), 0))
  );
end;
$$;

comment on function svc_api.operator_changes_under_way(integer) is
  'What may still change an environment that was just frozen; for the operator only.';
