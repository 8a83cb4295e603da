-- A key in the format of lists and changes, without the secret: {id, name, hint, status, createdAt, createdBy, lastUsedAt, revokedAt}. A
-- key in its grace period is expiring; lastUsedAt is when its rate bucket was last computed, unless that was at its creation.
-- Raises nothing, locks nothing.
create or replace function svc.key_document(key_hash bytea)
returns json
language sql
stable
set search_path = ''
as $$
  select json_build_object(
    'id', k.api_key_id,
    'name', k.name,
    'hint', k.hint,
    'status', case when k.revoked_at is null then 'active' when k.revoked_at > now() then 'expiring' else 'revoked' end,
    'createdAt', svc.iso(k.created_at),
    'createdBy', k.created_by,
    'lastUsedAt', case when u.refilled_at <> k.created_at then svc.iso(u.refilled_at) end,
    'revokedAt', svc.iso(k.revoked_at)
  )
  from svc.api_keys as k
  join svc.key_usage as u on u.key_hash = k.key_hash
  where k.key_hash = key_document.key_hash;
$$;

comment on function svc.key_document(bytea) is 'A key in the format of lists and changes, without the secret.';
