-- Tells whether an ingestion key is good, before a body is read. The answer may be cached for a moment: svc_api.ingest checks
-- again, so a revoked key stops at once.
-- Raises SV001 INVALID_API_KEY. Locks nothing.
create or replace function svc_api.authenticate_key(key_hash bytea)
returns integer
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _environment_id integer;
begin
  select k.environment_id into _environment_id
  from svc.api_keys as k
  where k.key_hash = authenticate_key.key_hash
    and (k.revoked_at is null or k.revoked_at > now());
  if not found then
    raise exception using errcode = 'SV001', message = 'INVALID_API_KEY';
  end if;
  return _environment_id;
end;
$$;

comment on function svc_api.authenticate_key(bytea) is 'The environment of an ingestion key; raises INVALID_API_KEY for an unknown or revoked one.';
