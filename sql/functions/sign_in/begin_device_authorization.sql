-- Begins the sign-in of a device: {status: "begun", expiresIn, interval} in seconds. {status: "throttled", retryAfter} if its
-- network asks too often; no error is raised then, because that would undo the charged attempt. {status: "taken"} if the user
-- code is used for another device: try another code. The caller checked client_id, and `network` is the part of `address` to throttle by.
-- Raises 23505 if the device code is in use. Locks the throttle of the network.
create or replace function svc_api.begin_device_authorization(
  device_code_hash bytea, user_code text, client_id text, address text, network text
)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _lifetime constant interval := '10 minutes';
  _interval_seconds constant integer := 5;
  _wait constant interval := iam.take_attempt('device authorization of ' || begin_device_authorization.network, 60, '1 second');
begin
  if _wait is not null then
    return json_build_object('status', 'throttled', 'retryAfter', greatest(1, ceil(extract(epoch from _wait))::integer));
  end if;

  insert into iam.device_authorizations (device_code_hash, user_code, client_id, address, expires_at, interval_seconds)
  values (
    begin_device_authorization.device_code_hash, begin_device_authorization.user_code, begin_device_authorization.client_id,
    begin_device_authorization.address, now() + _lifetime, _interval_seconds
  )
  on conflict on constraint device_authorizations_user_code_key do nothing;
  if not found then
    return json_build_object('status', 'taken');
  end if;
  return json_build_object('status', 'begun', 'expiresIn', extract(epoch from _lifetime)::integer, 'interval', _interval_seconds);
end;
$$;

comment on function svc_api.begin_device_authorization(bytea, text, text, text, text) is
  'Begins the sign-in of a device; throttled by network.';
