-- Merges the failures of a batch's operations into one: the first of them, with the diagnostics of all. If there are several, those without
-- diagnostics become diagnostics themselves.
-- Raises nothing, locks nothing.
create or replace function svc.merged_failure(failures jsonb)
returns jsonb
language sql
immutable
parallel safe
set search_path = ''
as $$
  with failure as (
    select f.key::integer as position, f.value, count(*) over () > 1 as is_one_of_several
    from jsonb_each(merged_failure.failures) as f
  )
  select o.value || case when a.diagnostics is null then '{}' else jsonb_build_object('diagnostics', a.diagnostics) end
  from (select f.value from failure as f order by f.position limit 1) as o
  cross join (
    select jsonb_agg(d.value order by f.position, d.ordinality) as diagnostics
    from failure as f
    cross join lateral jsonb_array_elements(
      case
        when f.value ? 'diagnostics' then f.value -> 'diagnostics'
        when f.is_one_of_several then
          jsonb_build_array(
            jsonb_build_object('code', f.value -> 'code', 'message', f.value -> 'message', 'path', f.value -> 'field')
          )
      end
    ) with ordinality as d
  ) as a;
$$;

comment on function svc.merged_failure(jsonb) is 'The first failure by position, with the diagnostics of all.';
