-- How an environment developed, by days, weeks (from Monday) or months from one day to another (today if null or later), in the
-- organization's time zone. Lifecycle (customers in each state), flows (transitions) and health are of current histories, which a recompute
-- rewrites; segments and signals of what was emitted; active (customers with an event), operations (accepted) and deliveries of the period.
-- {environment, what, every, timeZone, complete, periods: [first day], series: [{metric, label, values}]}, as in svc.trend_series and
-- svc.health_series; complete is false while a history is still to be counted. Health also has recomputedAt, if
-- svc.recomputed_after says that a recompute ran after the first period, because that left only one score of each customer.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND, SV006 VALIDATION_ERROR (from: after `to`, or more than 1,100 periods). Locks
-- nothing.
create or replace function svc_api.get_trends(
  token_hash bytea, organization_id text, project_slug text, environment_name text, what text, every text, "from" date, "to" date
)
returns json
language plpgsql
stable
security definer
set search_path = ''
set jit = off
as $$
declare
  _environment constant record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'get_trends');
  _id constant integer := _environment.environment_id;
  _zone constant text := svc.time_zone_of_environment(_id);
  _step constant interval := ('1 ' || get_trends.every)::interval;
  _today constant date := (now() at time zone _zone)::date;
  _to constant date := least(get_trends.to, _today);
  _from constant date := coalesce(
    get_trends.from, greatest('0001-01-01', _to - case get_trends.every when 'day' then 29 * _step else 11 * _step end)
  );
  _periods constant date[] := array(
    select p.day::date
    from generate_series(date_trunc(get_trends.every, _from::timestamp), _to::timestamp, _step) as p (day)
    limit 1101
  );
  _complete boolean;
  _recomputed_at timestamptz;
  _trends json;
  _kind constant text := case get_trends.what
    when 'lifecycle' then 'state' when 'segments' then 'segment' when 'signals' then 'signal' when 'health' then 'band'
  end;
  -- Read once: a model takes milliseconds to parse, and there may be thousands of series.
  _names constant text[] := case
    when _kind is not null then svc.part_names(_environment.project_id, _environment.active_version, _kind)
  end;
begin
  if _from > _to or cardinality(_periods) > 1100 then
    raise exception using
      errcode = 'SV006',
      message = 'VALIDATION_ERROR',
      detail = jsonb_build_object(
        'message',
        case
          when get_trends.to < _from then 'The span ends before it begins.'
          when _from > _to then '`from` is in the future.'
          else format('The span has more than 1,100 %ss.', get_trends.every)
        end,
        'field', 'from',
        'fix',
        case
          when _from > _to then format('Write a day no later than %s.', _to)
          when get_trends.every = 'month' then 'Write a later day.'
          else 'Write a later day, or ask by longer periods: every=month.'
        end
      )::text;
  end if;

  _complete := coalesce(
    (select p.outdated_since is null from svc.trend_progress as p where p.environment_id = _id),
    not exists (select 1 from svc.ingest_batches as b where b.environment_id = _id)
  );
  _trends := json_build_object(
    'environment', get_trends.environment_name,
    'what', get_trends.what,
    'every', get_trends.every,
    'timeZone', _zone,
    'complete', _complete,
    'periods', _periods,
    'series', (
      select coalesce(json_agg(f.item order by f.n, f.label, f.place, f.metric), '[]')
      from (
        select
          s.place, s.metric, s.label,
          array_position(_names, s.label) as n,
          (jsonb_build_object('metric', s.metric) || s.labels::jsonb || jsonb_build_object('values', s."values")) as item
        from svc.trend_series(_id, get_trends.what, get_trends.every, _periods, _today) as s
        union all
        select h.place, h.metric, '', 2147483647, jsonb_build_object('metric', h.metric, 'values', h."values")
        from svc.health_series(_id, get_trends.every, _periods, _today) as h
        where get_trends.what = 'health'
      ) as f
    )
  );
  if get_trends.what = 'health' then
    _recomputed_at := svc.recomputed_after(_id, svc.start_of_day((_periods[1] + _step)::date, _zone));
  end if;
  return case
    when _recomputed_at is null then _trends
    else svc.with_members(_trends, json_build_object('recomputedAt', svc.iso(_recomputed_at)))
  end;
end;
$$;

comment on function svc_api.get_trends(bytea, text, text, text, text, text, date, date) is
  'How an environment developed, by days, weeks or months.';
