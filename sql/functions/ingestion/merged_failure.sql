-- The one failure of a batch: the first of its operations' failures, with the diagnostics of all.
-- Raises nothing, locks nothing.
create or replace function svc.merged_failure(failures jsonb)
returns jsonb
language sql
immutable
parallel safe
set search_path = ''
as $$
  select o.failure || case when a.diagnostics is null then '{}' else jsonb_build_object('diagnostics', a.diagnostics) end
  from (
    select f.value as failure
    from jsonb_each(merged_failure.failures) as f
    order by f.key::integer
    limit 1
  ) as o
  cross join (
    select jsonb_agg(d.value order by f.key::integer, d.ordinality) as diagnostics
    from jsonb_each(merged_failure.failures) as f
    cross join lateral jsonb_array_elements(f.value -> 'diagnostics') with ordinality as d
  ) as a;
$$;

comment on function svc.merged_failure(jsonb) is 'The first failure by position, with the diagnostics of all.';
