-- Which of these foreign keys and triggers, as schema.table.name, do not exist or have no effect: a violation in the form of
-- operator_examine, or none. A restore makes foreign keys last, and pg_restore --disable-triggers leaves all of them disabled if it ends
-- early; a default of the user or of the database can switch all of them off. Nothing else would show that. The program knows the
-- names: the database cannot, as it may be incomplete itself.
-- Raises nothing, locks nothing.
create or replace function svc_api.operator_check_constraints(foreign_keys text[], triggers text[])
returns json
language sql
stable
security definer
set search_path = ''
as $$
  select svc.installation_violations(
    'constraints_are_enforced', 'Every table has its foreign keys and triggers, and none is disabled.',
    array(
      select format('the foreign key %s %s', n.name, case when f.name is null then 'does not exist' else 'is not valid' end)
      from unnest(operator_check_constraints.foreign_keys) as n (name)
      left join (
        select format('%s.%s.%s', s.nspname, c.relname, k.conname) as name, k.convalidated
        from pg_catalog.pg_constraint as k
        join pg_catalog.pg_class as c on c.oid = k.conrelid
        join pg_catalog.pg_namespace as s on s.oid = c.relnamespace
        where k.contype = 'f'
      ) as f on f.name = n.name
      where f.convalidated is not true
      union all
      select format('the trigger %s does not exist', n.name)
      from unnest(operator_check_constraints.triggers) as n (name)
      where not exists (
        select
        from pg_catalog.pg_trigger as t
        join pg_catalog.pg_class as c on c.oid = t.tgrelid
        join pg_catalog.pg_namespace as s on s.oid = c.relnamespace
        where format('%s.%s.%s', s.nspname, c.relname, t.tgname) = n.name
      )
      union all
      select format('the table %s.%s has disabled triggers', s.nspname, c.relname)
      from pg_catalog.pg_class as c
      join pg_catalog.pg_namespace as s on s.oid = c.relnamespace
      where s.nspname in ('graphile_worker', 'iam', 'svc')
        and exists (select from pg_catalog.pg_trigger as t where t.tgrelid = c.oid and t.tgenabled not in ('O', 'A'))
      union all
      select format('session_replication_role is replica for %s, which switches all of them off', session_user)
      where current_setting('session_replication_role') = 'replica'
    ),
    'For disabled ones: alter table, with its name, enable trigger all, as a superuser. For a trigger that does not exist: svc-server '
    'migrate. For a foreign key that is not valid: alter table, with its name, validate constraint. If one does not exist, a restore '
    'ended early, or it was dropped by SQL: pg_restore --section=post-data of the same dump makes it; its errors about others that '
    'exist do no harm, any other says what prevents it (docs/operations/backup.md). What was written meanwhile was not checked: look '
    'at the other violations, too. For session_replication_role: svc-server migrate prints the statement.'
  )
$$;

comment on function svc_api.operator_check_constraints(text[], text[]) is
  'Which foreign keys and triggers are missing or disabled; for the operator only.';
