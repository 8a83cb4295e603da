-- A page of the results by customer of a recompute, a dry run, a preview or a backtest: in order of their ids, or the largest differences
-- first. The rows of a page take up to 1 MiB as stored, but there is at least one: a page of large ones is short, and nextCursor continues.
-- Raises SV006 VALIDATION_ERROR (cursor). Locks nothing.
create or replace function svc.recompute_page(
  list text, environment_id integer, recompute_id text, by_id boolean, row_limit integer, "cursor" text
)
returns json
language plpgsql
stable
set search_path = ''
-- Weights must survive the round trip through a cursor unchanged.
set extra_float_digits = 1
as $$
declare
  _list constant text := recompute_page.list || case when recompute_page.by_id then '_by_id' else '_by_weight' end;
  _after constant text := svc.decode_cursor(
    _list, recompute_page.cursor, case when recompute_page.by_id then '.' else '^[0-9]{1,9}([.][0-9]{1,9})?(e[+-]?[0-9]{1,2})? .' end
  );
  _order constant text := case when recompute_page.by_id then 'k.customer_id' else 'k.weight desc, k.customer_id' end;
  _position constant text := case
    when recompute_page.by_id then 'f.customer_id'
    else $sql$ concat_ws(' ', f.weight, f.customer_id) $sql$
  end;
  _weight text;
  _customer_id text := _after;
  _found integer;
  _items json[];
  _positions text[];
begin
  if not recompute_page.by_id then
    _weight := split_part(_after, ' ', 1);
    _customer_id := substr(_after, length(_weight) + 2);
  end if;

  -- The statement contains only what is needed, so that each order gets its own plan.
  execute concat(
    $sql$
      with found as (
        select
          k.customer_id, k.weight, k.difference,
          coalesce(sum(pg_column_size(k.difference)) over (ranked rows between unbounded preceding and 1 preceding), 0) as size_before,
          row_number() over ranked as n
        from (
          select k.customer_id, k.weight, k.difference
          from svc.recompute_customers as k
          where k.environment_id = $1 and k.recompute_id = $2
    $sql$,
    case
      when _after is null then null
      when recompute_page.by_id then ' and k.customer_id > $4 '
      else ' and k.weight <= $3::real and (k.weight < $3::real or k.customer_id > $4) '
    end,
    ' order by ', _order,
    $sql$
          limit $5 + 1
        ) as k
        window ranked as (order by $sql$, _order, $sql$)
      )
      select
        count(*),
        array_agg(f.difference order by f.n) filter (where f.size_before < 1048576),
        array_agg($sql$, _position, $sql$ order by f.n) filter (where f.size_before < 1048576)
      from found as f
    $sql$
  )
  into _found, _items, _positions
  using recompute_page.environment_id, recompute_page.recompute_id, _weight, _customer_id, recompute_page.row_limit;

  return svc.partial_page(
    _list, _items, _positions, recompute_page.row_limit,
    case when _found > cardinality(_positions) then _positions[cardinality(_positions)] end
  );
end;
$$;

comment on function svc.recompute_page(text, integer, text, boolean, integer, text) is
  'A page of the results by customer of a recompute, preview or backtest.';
