-- The violations of operations that do not conform to the schema, keyed by position: {code, message, path, violations}, the first violation
-- and at most twenty of all; {} if all conform. Checks a few operations at a time, so that it holds the violations of only those in memory.
-- Raises nothing, locks nothing.
create or replace function svc.violations_by_position(project_id integer, version integer, operations jsonb, suspects bigint[])
returns jsonb
language plpgsql
stable
set search_path = ''
as $$
declare
  _at_once constant integer := 10;
  _held jsonb := '{}';
begin
  for _first in 1 .. cardinality(violations_by_position.suspects) by _at_once loop
    _held := _held || (
      select coalesce(jsonb_object_agg(f.ordinal, (f.violations -> 0) || jsonb_build_object('violations', f.violations)), '{}')
      from (
        select
          v.ordinal,
          jsonb_agg(jsonb_build_object('code', v.code, 'message', v.message, 'path', v.path) order by v.n) as violations
        from (
          -- Paths as for a single event: the position in the call has no meaning later.
          select o.*, row_number() over (partition by o.ordinal order by o.n) as place
          from svc.operation_violations(
            violations_by_position.project_id, violations_by_position.version, violations_by_position.operations,
            violations_by_position.suspects[_first : _first + _at_once - 1], true
          ) with ordinality as o (ordinal, code, message, path, value, reason, fix, n)
        ) as v
        where v.place <= 20
        group by v.ordinal
      ) as f
    );
  end loop;
  return _held;
end;
$$;

comment on function svc.violations_by_position(integer, integer, jsonb, bigint[]) is
  'Violations of operations that do not conform to the schema, keyed by position; {} if all conform.';
