-- Finds and locks a key by its id, to change it.
-- Raises SV004 KEY_NOT_FOUND. Locks the key's row, so that changes of a key come one after the other; ingestion does not wait for it.
create or replace function svc.lock_key(environment_id integer, key_id text)
returns svc.api_keys
language plpgsql
volatile
set search_path = ''
as $$
declare
  _key svc.api_keys;
begin
  select k.* into _key
  from svc.api_keys as k
  where k.environment_id = lock_key.environment_id and k.api_key_id = lock_key.key_id
  for no key update;
  if not found then
    perform svc.raise_not_found(
      'KEY_NOT_FOUND', 'key', lock_key.key_id, 'in this environment',
      'Check the id and the environment; the list of keys shows all of them.'
    );
  end if;
  return _key;
end;
$$;

comment on function svc.lock_key(integer, text) is 'A key, locked for a change; raises KEY_NOT_FOUND.';
