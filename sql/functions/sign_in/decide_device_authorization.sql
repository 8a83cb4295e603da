-- Approves or denies the device with a user code, for the user of the session: {status: "approved" | "denied"}. The first decision
-- is final: a second one by the same user is answered with it. Otherwise answers the refusal of iam.look_up_device. No organization is
-- concerned, so it is not in any audit log.
-- Raises nothing. Locks what iam.look_up_device locks.
create or replace function svc_api.decide_device_authorization(session_hash bytea, user_code text, approve boolean)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _found constant record := iam.look_up_device(decide_device_authorization.session_hash, decide_device_authorization.user_code);
  _decision constant text := case when decide_device_authorization.approve then 'approved' else 'denied' end;
begin
  if _found.refusal is not null then
    return _found.refusal;
  end if;

  update iam.device_authorizations as d
  set status = _decision, user_id = _found.user_id, decided_at = now()
  where d.device_code_hash = (_found.device).device_code_hash;
  return json_build_object('status', _decision);
end;
$$;

comment on function svc_api.decide_device_authorization(bytea, text, boolean) is
  'A user''s decision about a device that asks to be signed in.';
