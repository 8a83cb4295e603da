-- How calls of the tracking API become operations in the environment of an ingestion key, as in svc.tracking_model, and now (ms), by which
-- the senders' clocks are corrected; {version, now} alone if the caller already knows that version. known is null if it knows none.
-- Raises SV001 INVALID_API_KEY. Locks nothing.
create or replace function svc_api.get_tracking_model(key_hash bytea, known integer)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _environment svc.environments;
  _now constant json := json_build_object('now', svc.epoch_ms(now()));
begin
  select e.* into _environment
  from svc.api_keys as k
  join svc.environments as e on e.environment_id = k.environment_id
  where k.key_hash = get_tracking_model.key_hash and (k.revoked_at is null or k.revoked_at > now());
  if not found then
    raise exception using errcode = 'SV001', message = 'INVALID_API_KEY';
  end if;
  if _environment.active_version = get_tracking_model.known then
    return svc.with_members(json_build_object('version', get_tracking_model.known), _now);
  end if;
  return svc.with_members(svc.tracking_model(_environment.project_id, _environment.active_version), _now);
end;
$$;

comment on function svc_api.get_tracking_model(bytea, integer) is 'How calls of the tracking API become operations.';
