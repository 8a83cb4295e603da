-- The device with a user code, and the user who is signed in with a browser session. A device that another user decided about,
-- or that has expired, is not found. `refusal` says why there is nothing to decide: {status: "signed_out" | "unknown"}, {status:
-- "throttled", retryAfter}, or this user's decision, {status: "approved" | "denied"}; null otherwise. Each user has 10 guesses and gets one
-- back per minute. A code that is found does not count as a guess.
-- Raises nothing. Locks the session, so that it does not end before the caller's work; the throttle of the user; the row of the device.
create or replace function iam.look_up_device(
  session_hash bytea, user_code text, out user_id text, out device iam.device_authorizations, out refusal json
)
language plpgsql
volatile
set search_path = ''
as $$
declare
  _bucket text;
  _refill constant interval := '1 minute';
  _wait interval;
begin
  select s.user_id into look_up_device.user_id
  from iam.sessions as s
  where s.session_hash = look_up_device.session_hash
    and s.expires_at > now()
  for share;
  if not found then
    look_up_device.refusal := json_build_object('status', 'signed_out');
    return;
  end if;

  -- Charged before the look-up, so that concurrent guesses are no more than sequential ones.
  _bucket := 'user code by ' || look_up_device.user_id;
  _wait := iam.take_attempt(_bucket, 10, _refill);
  if _wait is not null then
    look_up_device.refusal := json_build_object(
      'status', 'throttled', 'retryAfter', greatest(1, ceil(extract(epoch from _wait))::integer)
    );
    return;
  end if;

  select d.* into look_up_device.device
  from iam.device_authorizations as d
  where d.user_code = look_up_device.user_code
    and d.expires_at > now()
    and coalesce(d.user_id, look_up_device.user_id) = look_up_device.user_id
  for update;
  if not found then
    look_up_device.refusal := json_build_object('status', 'unknown');
    return;
  end if;
  perform iam.return_attempt(_bucket, _refill);

  if look_up_device.device.status <> 'pending' then
    look_up_device.refusal := json_build_object(
      'status', case when look_up_device.device.status = 'denied' then 'denied' else 'approved' end
    );
  end if;
end;
$$;

comment on function iam.look_up_device(bytea, text) is 'The device with a user code, for a signed-in user; guesses are throttled.';
