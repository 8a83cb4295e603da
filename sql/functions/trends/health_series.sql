-- The distribution of the health scores of an environment's customers at the end of each period, one row per series: scored (customers with
-- a score), average (to two decimals) and the quartiles (in whole points), null if no customer had a score. The periods are consecutive and
-- given by their first days. Changes counted for a day after `today` count as today's.
-- Raises nothing, locks nothing.
create or replace function svc.health_series(environment_id integer, every text, periods date[], today date)
returns table (place integer, metric text, "values" numeric[])
language plpgsql
stable
set search_path = ''
as $$
declare
  _periods constant date[] := health_series.periods;
  _change record;
  -- How many customers have each score from 0 to 100 after the changes so far, and the sum of their scores.
  _counts bigint[] := array_fill(0, array[101]);
  _amount numeric := 0;
  _scored bigint := 0;
  _up_to_here bigint;
  _quartiles integer[];
  _at integer := 1;
  _all numeric[];
  _averages numeric[];
  _lower numeric[];
  _medians numeric[];
  _upper numeric[];
begin
  -- A single ordered scan, because a window over every score in every period takes five times as long. Changes before the first period are
  -- one sum; the last row ends the last period.
  for _change in
    select _periods[1] as day, c.value::integer as score, sum(c.count)::bigint as count, sum(c.amount) as amount
    from svc.all_trend_counts as c
    where c.environment_id = health_series.environment_id and c.measure = 'score' and c.day < _periods[1]
    group by c.value
    union all
    select least(c.day, health_series.today), c.value::integer, c.count, c.amount
    from svc.all_trend_counts as c
    where c.environment_id = health_series.environment_id
      and c.measure = 'score'
      and c.day >= _periods[1]
      and date_trunc(health_series.every, least(c.day, health_series.today)::timestamp) <= _periods[cardinality(_periods)]
    union all
    select 'infinity', 0, 0, 0
    order by day
  loop
    while _at <= cardinality(_periods) and _change.day >= coalesce(_periods[_at + 1], 'infinity') loop
      _up_to_here := 0;
      _quartiles := '{}';
      for _score in 0..100 loop
        exit when cardinality(_quartiles) = 3 or _scored = 0;
        _up_to_here := _up_to_here + _counts[_score + 1];
        while _counts[_score + 1] > 0 and cardinality(_quartiles) < 3 and _up_to_here * 4 >= (cardinality(_quartiles) + 1) * _scored loop
          _quartiles := _quartiles || _score;
        end loop;
      end loop;
      _all[_at] := _scored;
      _averages[_at] := round(_amount / nullif(_scored, 0), 2);
      _lower[_at] := _quartiles[1];
      _medians[_at] := _quartiles[2];
      _upper[_at] := _quartiles[3];
      _at := _at + 1;
    end loop;
    _counts[_change.score + 1] := _counts[_change.score + 1] + _change.count;
    _scored := _scored + _change.count;
    _amount := _amount + _change.amount;
  end loop;

  return query
  values
    (2, 'scored', _all), (3, 'average', _averages), (4, 'lowerQuartile', _lower), (5, 'median', _medians), (6, 'upperQuartile', _upper);
end;
$$;

comment on function svc.health_series(integer, text, date[], date) is 'The distribution of health scores at the end of each period.';
