-- What a user is shown before deciding: {status: "pending", clientId, address, createdAt}. Otherwise answers the refusal of
-- iam.look_up_device.
-- Raises nothing. Locks what iam.look_up_device locks.
create or replace function svc_api.find_device_authorization(session_hash bytea, user_code text)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _found constant record := iam.look_up_device(find_device_authorization.session_hash, find_device_authorization.user_code);
  _device constant iam.device_authorizations := _found.device;
begin
  if _found.refusal is not null then
    return _found.refusal;
  end if;
  return json_build_object(
    'status', 'pending', 'clientId', _device.client_id, 'address', _device.address, 'createdAt', svc.iso(_device.created_at)
  );
end;
$$;

comment on function svc_api.find_device_authorization(bytea, text) is 'The device that asks to be signed in with a user code.';
