-- The signals that are raised now, last raised first; filtered by signal, severity and an earliest time of raising. Null filters do not
-- filter. A page reads at most 2,000 signals: if too few of them pass the filters, it is short or even empty, and nextCursor continues the
-- list.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND, SV006 VALIDATION_ERROR (cursor; a signal that is not raised and that the
-- active version does not declare). Locks nothing.
create or replace function svc_api.search_signals(
  token_hash bytea, organization_id text, project_slug text, environment_name text,
  signal_id text, severity text, since timestamptz, row_limit integer, "cursor" text
)
returns json
language plpgsql
stable
security definer
set search_path = ''
-- Force index scans, whatever the statistics say.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  _environment constant record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'search_signals');
  _id constant integer := _environment.environment_id;
  -- Instant, signal and customer id: only the last can contain a space.
  _after constant text[] := regexp_match(
    svc.decode_cursor('signals', search_signals.cursor, '^([0-9]{1,18}|-[0-9]{1,17}) [^ ]+ .+$'), '^(-?[0-9]+) ([^ ]+) (.+)$'
  );
  -- With defaults instead of nulls, so that a generic plan can begin the index there.
  _since constant timestamptz := coalesce(search_signals.since, '-infinity');
  _before_at constant timestamptz := coalesce(svc.instant_of(_after[1]::bigint), 'infinity');
  _before_signal constant text := coalesce(_after[2], '');
  _before_customer constant text := coalesce(_after[3], '');
  _look_max constant integer := case
    when search_signals.signal_id is null and search_signals.severity is null then search_signals.row_limit + 1
    else 2000
  end;
  _items json[];
  _positions text[];
  _resume text;
begin
  with looked as materialized (
    select
      s.*, concat(svc.microseconds(s.raised_at), ' ', s.signal_id, ' ', s.customer_id) as place,
      row_number() over (order by s.raised_at desc, s.signal_id desc, s.customer_id desc) as n
    from svc.signals as s
    where s.environment_id = _id
      and s.cleared_at is null
      and s.raised_at >= _since
      and (s.raised_at, s.signal_id, s.customer_id) < (_before_at, _before_signal collate "C", _before_customer collate "C")
    order by s.raised_at desc, s.signal_id desc, s.customer_id desc
    limit _look_max
  ),
  passed as (
    select l.*
    from looked as l
    where (search_signals.signal_id is null or l.signal_id = search_signals.signal_id)
      and (search_signals.severity is null or l.severity = search_signals.severity)
    order by l.n
    limit search_signals.row_limit + 1
  )
  select
    array_agg(
      json_build_object(
        'customerId', p.customer_id,
        'signalId', p.signal_id,
        'severity', p.severity,
        'message', p.message,
        'raisedAt', svc.iso(p.raised_at)
      )
      order by p.n
    ),
    array_agg(p.place order by p.n),
    (select l.place from looked as l where l.n = _look_max)
  into _items, _positions, _resume
  from passed as p;

  if _items is null and search_signals.cursor is null and _resume is null then
    perform svc.require_part(
      _environment.project_id, _environment.active_version, 'signal', 'signal', search_signals.signal_id
    );
  end if;
  return svc.partial_page('signals', _items, _positions, search_signals.row_limit, _resume);
end;
$$;

comment on function svc_api.search_signals(bytea, text, text, text, text, text, timestamptz, integer, text) is
  'The signals that are raised now, last raised first, filtered.';
