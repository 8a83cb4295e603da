-- Answers a device that polls: {status: "authorization_pending" | "slow_down" | "access_denied" | "expired_token" | "invalid_grant"}, or
-- {status: "granted", expiresIn} once, when the user approved: the token with the given hash is valid from then on, in all organizations of
-- the user. Of concurrent calls with the same code only one is granted. A device that polls too early must wait 5 seconds longer from
-- then on; that is answered, not raised, so that it is stored.
-- Raises 23505 if the token is in use. Locks the user who approved, against a password change meanwhile, then the code's row.
create or replace function svc_api.redeem_device_code(device_code_hash bytea, client_id text, token_hash bytea)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _lifetime constant interval := '90 days';
  _longer_seconds constant integer := 5;
  _device iam.device_authorizations;
  _at timestamptz;
  _is_early boolean;
  _is_user_locked boolean;
begin
  -- The user first, as in svc_api.set_password, which ends all tokens of the user: either it sees this token, or this sees its changes.
  perform
  from iam.device_authorizations as d
  join iam.users as u on u.user_id = d.user_id
  where d.device_code_hash = redeem_device_code.device_code_hash
  for share of u;
  _is_user_locked := found;

  select d.* into _device
  from iam.device_authorizations as d
  where d.device_code_hash = redeem_device_code.device_code_hash
    and d.client_id = redeem_device_code.client_id
  for update;
  -- After the lock: a transaction that waited for it may have begun before the one that held it.
  _at := clock_timestamp();

  if _device.device_code_hash is null then
    return json_build_object('status', 'invalid_grant', 'reason', 'unknown');
  elsif _device.status = 'redeemed' then
    return json_build_object('status', 'invalid_grant', 'reason', 'redeemed');
  elsif _device.status = 'denied' then
    return json_build_object('status', 'access_denied');
  elsif _device.expires_at <= _at then
    return json_build_object('status', 'expired_token');
  elsif _device.status = 'approved' and _is_user_locked then
    update iam.device_authorizations as d set status = 'redeemed' where d.device_code_hash = _device.device_code_hash;
    insert into iam.access_tokens (token_hash, token_id, kind, user_id, label, client_id, expires_at)
    values (
      redeem_device_code.token_hash, svc.random_id('tok_'), 'session', _device.user_id, 'svc on ' || _device.address,
      _device.client_id, now() + _lifetime
    );
    return json_build_object('status', 'granted', 'expiresIn', extract(epoch from _lifetime)::integer);
  end if;

  -- Also if it was approved at this very moment: the next poll will see that.
  _is_early := coalesce(_at < _device.last_polled_at + make_interval(secs => _device.interval_seconds), false);
  update iam.device_authorizations as d
  set
    last_polled_at = _at,
    interval_seconds = d.interval_seconds + case when _is_early then _longer_seconds else 0 end
  where d.device_code_hash = _device.device_code_hash;
  if not _is_early then
    return json_build_object('status', 'authorization_pending');
  end if;
  return json_build_object('status', 'slow_down', 'interval', _device.interval_seconds + _longer_seconds);
end;
$$;

comment on function svc_api.redeem_device_code(bytea, text, bytea) is
  'Answers a polling device; stores its token once the user approved.';
