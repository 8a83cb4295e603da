-- Takes one attempt out of a bucket that holds `capacity` attempts and gets one back every `refill`. Answers null if there was one, else
-- how long to wait for the next. The attempt is charged before it is made, so that concurrent attempts get no more than sequential ones.
-- Raises nothing. Locks the bucket's row, which only other attempts of the same bucket wait for.
create or replace function iam.take_attempt(bucket text, capacity integer, refill interval)
returns interval
language plpgsql
volatile
set search_path = ''
as $$
declare
  _now constant timestamptz := clock_timestamp();
  _bucket constant bytea := iam.bucket_hash(take_attempt.bucket);
  _refill constant double precision := extract(epoch from take_attempt.refill);
  _missing double precision;
begin
  insert into iam.throttles as t (bucket, full_at)
  values (_bucket, _now)
  on conflict do nothing;

  select greatest(0, extract(epoch from t.full_at - _now) / _refill) into _missing
  from iam.throttles as t
  where t.bucket = _bucket
  for update;
  -- No more than the capacity can be missing, and a little while others hold the lock: it was used before the clock was set back.
  if _missing > 2 * take_attempt.capacity then
    _missing := 0;
  end if;
  if take_attempt.capacity - _missing < 1 then
    return make_interval(secs => (_missing - take_attempt.capacity + 1) * _refill);
  end if;

  update iam.throttles as t
  set full_at = _now + make_interval(secs => (_missing + 1) * _refill)
  where t.bucket = _bucket;
  return null;
end;
$$;

comment on function iam.take_attempt(text, integer, interval) is
  'Takes one attempt out of a bucket; answers how long to wait if it is empty.';
