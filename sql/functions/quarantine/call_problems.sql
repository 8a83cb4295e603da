-- The problems of calls of the tracking API that could not be turned into operations, keyed by position, in the form of
-- svc.violations_by_position.
-- Raises nothing, locks nothing.
create or replace function svc.call_problems(operations jsonb)
returns jsonb
language sql
immutable
set search_path = ''
return (
  select coalesce(
    jsonb_object_agg(
      o.n - 1, (o.operation -> 'problem') || jsonb_build_object('violations', jsonb_build_array(o.operation -> 'problem'))
    ),
    '{}'
  )
  from jsonb_array_elements(call_problems.operations) with ordinality as o (operation, n)
  where o.operation ? 'problem'
);

comment on function svc.call_problems(jsonb) is
  'Problems of calls of the tracking API that could not be turned into operations, by position.';
