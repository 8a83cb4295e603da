-- The one failure of a batch: the first of its operations' failures, with the diagnostics of all.
-- Raises nothing, locks nothing.
create or replace function svc.merged_failure(failures jsonb)
returns jsonb
language sql
immutable
parallel safe
set search_path = ''
as $$
  select (array_agg(f.value order by f.key::integer))[1] || case
    when bool_or(f.value ? 'diagnostics')
      then jsonb_build_object('diagnostics', jsonb_agg(d.value order by f.key::integer, d.ordinality))
    else '{}'
  end
  from jsonb_each(merged_failure.failures) as f
  left join lateral jsonb_array_elements(f.value -> 'diagnostics') with ordinality as d on true;
$$;

comment on function svc.merged_failure(jsonb) is 'The first failure by position, with the diagnostics of all.';
