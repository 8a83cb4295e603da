-- The failures of a call's operations that violate the schema, keyed by position, as svc.schema_failures gives them. Operations are checked
-- a few at a time: a batch is refused with the first few thousand diagnostics, as all those of a batch of 64 MiB could be millions.
-- Single events are all checked, because each has its own outcome.
-- Raises nothing, locks nothing.
create or replace function svc.call_schema_failures(
  project_id integer, version integer, operations jsonb, suspects bigint[], single boolean
)
returns jsonb
language plpgsql
stable
set search_path = ''
as $$
declare
  _at_once constant integer := 10;
  _enough constant integer := 5000;
  _failures jsonb := '{}';
  _some jsonb;
  _listed bigint := 0;
begin
  for _first in 1 .. cardinality(call_schema_failures.suspects) by _at_once loop
    _some := svc.schema_failures(
      call_schema_failures.project_id, call_schema_failures.version, call_schema_failures.operations,
      call_schema_failures.suspects[_first : _first + _at_once - 1], call_schema_failures.single
    );
    _failures := _failures || _some;
    _listed := _listed + (select coalesce(sum(jsonb_array_length(f.value -> 'diagnostics')), 0) from jsonb_each(_some) as f);
    exit when _listed >= _enough and not call_schema_failures.single;
  end loop;
  return _failures;
end;
$$;

comment on function svc.call_schema_failures(integer, integer, jsonb, bigint[], boolean) is
  'Failures of a call''s operations that violate the schema, keyed by position; {} if all conform.';
