-- Adds stored events that are missing from the month's usage of an environment's keys. On a single PostgreSQL both commit together; on a
-- cluster the node commits before the coordinator, so that a call whose coordinator, node or connection is lost in between is stored but
-- not counted. Reads about `row_limit` calls after those read before, and answers how many; call again until it answers 0. After it has
-- read all settled calls, it compares and answers 0. Usage is never reduced: what exceeds the stored events has expired, or is not yet
-- visible.
-- Raises 55P03 if a call takes longer than a second to commit. Locks the environment's row of svc.usage_checks and, while it compares, the
-- usage of all its keys: a call holds that from its last statement until it has committed on both sides, so none is half counted. Calls
-- wait while it reads the unsettled ones.
create or replace function svc_api.recount_usage(environment_id integer, row_limit integer)
returns integer
language plpgsql
volatile
security definer
set search_path = ''
set lock_timeout = '1s'
-- Force look-ups by key, whatever the statistics say.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  _id constant integer := recount_usage.environment_id;
  _month constant date := svc.month_of(clock_timestamp());
  _begins_at constant timestamptz := _month::timestamp at time zone 'UTC';
  _ends_at constant timestamptz := (_month + interval '1 month') at time zone 'UTC';
  _check svc.usage_checks;
  _settled bigint;
  _through bigint;
  _calls integer;
  _stored bigint;
  _under_way bigint;
  _missing bigint;
begin
  insert into svc.usage_checks (environment_id, month) values (_id, _month) on conflict do nothing;
  select c.* into _check from svc.usage_checks as c where c.environment_id = _id for update skip locked;
  if not found then
    return 0;
  end if;
  -- The count of a later month is from before the clock was set back, and left out calls of this one: it starts with the first call again.
  if _check.month > _month then
    _check.counted_through := 0;
  end if;
  -- Calls read in the previous month were accepted in it, so the count restarts.
  _stored := case when _check.month = _month then _check.month_events else 0 end;

  _settled := svc.accepted_through(_id) / 1024;
  select count(*), coalesce(max(b.batch_seq), _check.counted_through), _stored + coalesce(sum(b.tracked) filter (where b.is_current), 0)
  into _calls, _through, _stored
  from (
    select i.batch_seq, i.tracked, i.accepted_at >= _begins_at and i.accepted_at < _ends_at as is_current
    from svc.ingest_batches as i
    where i.environment_id = _id and i.batch_seq > _check.counted_through and i.batch_seq <= _settled
    order by i.batch_seq
    limit recount_usage.row_limit
  ) as b;
  update svc.usage_checks as c
  set month = _month, counted_through = _through, month_events = _stored
  where c.environment_id = _id;
  if _calls = recount_usage.row_limit then
    return _calls;
  end if;

  perform from svc.key_usage as u
  where u.key_hash in (select k.key_hash from svc.api_keys as k where k.environment_id = _id)
  order by u.key_hash
  for no key update;
  select coalesce(sum(b.tracked), 0) into _under_way
  from svc.ingest_batches as b
  where b.environment_id = _id and b.batch_seq > _through and b.accepted_at >= _begins_at
    and b.accepted_at < _ends_at;
  select _stored + _under_way - coalesce(sum(u.month_events), 0) into _missing
  from svc.api_keys as k
  join svc.key_usage as u on u.key_hash = k.key_hash
  where k.environment_id = _id and u.month = _month;
  if _missing > 0 then
    update svc.key_usage as u
    set month = _month, month_events = _missing + case when u.month = _month then u.month_events else 0 end
    where u.key_hash = (
      select k.key_hash
      from svc.api_keys as k
      join svc.key_usage as l on l.key_hash = k.key_hash
      where k.environment_id = _id and l.month <= _month
      order by l.refilled_at desc
      limit 1
    );
  end if;
  return 0;
end;
$$;

comment on function svc_api.recount_usage(integer, integer) is
  'Adds stored events that are missing from the month''s usage of an environment''s keys.';
