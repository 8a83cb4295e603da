-- Why no operation could be made of calls of the tracking API, keyed by position, as svc.held_violations answers.
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

comment on function svc.call_problems(jsonb) is 'Why no operation could be made of calls of the tracking API, by position.';
