-- The failures of the operations that violate the schema, keyed by position: the first violation, and all of them as diagnostics.
-- Raises nothing, locks nothing.
create or replace function svc.schema_failures(
  project_id integer, version integer, operations jsonb, suspects bigint[], single boolean
)
returns jsonb
language sql
stable
set search_path = ''
as $$
  select coalesce(jsonb_object_agg(f.ordinal, f.failure), '{}')
  from (
    select
      v.ordinal,
      jsonb_build_object('sqlstate', 'SV007')
      || ((jsonb_agg(
        jsonb_build_object('code', v.code, 'message', v.message, 'field', v.path, 'reason', v.reason, 'fix', v.fix)
        || case when v.value <> 'null' then jsonb_build_object('value', v.value) else '{}' end
        order by v.n
      )) -> 0)
      || jsonb_build_object(
        'diagnostics', jsonb_agg(jsonb_build_object('code', v.code, 'message', v.message, 'path', v.path) order by v.n)
      ) as failure
    from svc.operation_violations(
      schema_failures.project_id, schema_failures.version, schema_failures.operations, schema_failures.suspects, schema_failures.single
    ) with ordinality as v (ordinal, code, message, path, value, reason, fix, n)
    group by v.ordinal
  ) as f;
$$;

comment on function svc.schema_failures(integer, integer, jsonb, bigint[], boolean) is
  'Failures of the operations that violate the schema, keyed by position; {} if all conform.';
