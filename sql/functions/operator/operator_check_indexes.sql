-- Which of these indexes, as schema.name, do not exist or cannot be used: a violation in the form of operator_examine, or none. They are
-- what keeps rows from being stored twice, and what `on conflict` needs. The program knows the names: the database cannot, as it may be
-- incomplete itself.
-- Raises nothing, locks nothing.
create or replace function svc_api.operator_check_indexes(indexes text[])
returns json
language sql
stable
security definer
set search_path = ''
as $$
  select svc.installation_violations(
    'indexes_exist', 'Every table has its keys, unique constraints and indexes.',
    array(
      select format('the index %s %s', n.name, case when i.indexrelid is null then 'does not exist' else 'is not valid' end)
      from unnest(operator_check_indexes.indexes) as n (name)
      left join pg_catalog.pg_index as i on i.indexrelid = to_regclass(n.name)
      where i.indisvalid is not true
    ),
    'For one that is not valid: reindex index concurrently, with its name, while the service runs. If one does not exist, a restore '
    'ended early, or it was dropped by SQL: stop the service. pg_restore --section=post-data of the same dump makes it; its errors '
    'about others that exist do no harm, any other says what prevents it. Otherwise restore the backup again '
    '(docs/operations/backup.md).'
  )
$$;

comment on function svc_api.operator_check_indexes(text[]) is 'Which indexes are missing; for the operator only.';
