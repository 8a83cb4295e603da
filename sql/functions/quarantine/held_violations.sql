-- What is wrong with operations that violate the schema, keyed by position: {code, message, path, violations}, with the first of twenty
-- violations at most; {} where all conform. Looks at a few operations at a time, so that it holds the violations of those only.
-- Raises nothing, locks nothing.
create or replace function svc.held_violations(project_id integer, version integer, operations jsonb, suspects bigint[])
returns jsonb
language plpgsql
stable
set search_path = ''
as $$
declare
  _at_once constant integer := 10;
  _held jsonb := '{}';
begin
  for _first in 1 .. cardinality(held_violations.suspects) by _at_once loop
    _held := _held || (
      select coalesce(jsonb_object_agg(f.ordinal, (f.violations -> 0) || jsonb_build_object('violations', f.violations)), '{}')
      from (
        select
          v.ordinal,
          jsonb_agg(jsonb_build_object('code', v.code, 'message', v.message, 'path', v.path) order by v.n) as violations
        from (
          -- Named as those of a single event are: its place in the call tells nothing afterwards.
          select o.*, row_number() over (partition by o.ordinal order by o.n) as place
          from svc.operation_violations(
            held_violations.project_id, held_violations.version, held_violations.operations,
            held_violations.suspects[_first : _first + _at_once - 1], true
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

comment on function svc.held_violations(integer, integer, jsonb, bigint[]) is
  'What is wrong with operations that violate the schema, keyed by position; {} where all conform.';
