-- KEYS_NEVER_USED if valid API keys were never used: a warning if no key of the environment ever was, revoked ones included; else null.
-- Raises nothing, locks nothing.
create or replace function svc.check_keys(environment_id integer, environment_name text)
returns json
language sql
stable
set search_path = ''
begin atomic
  select svc.finding(
    'KEYS_NEVER_USED',
    case when bool_or(k.used) then 'info' else 'warning' end,
    case
      when bool_or(k.used)
        then svc.count_text(count(*) filter (where k.unused), 'API key of this environment was', 'API keys of this environment were')
          || ' never used.'
      else 'no API key of this environment was ever used: nothing was sent to it.'
    end,
    case
      when bool_or(k.used) then 'Revoke keys that nobody needs: an unused key can still leak.'
      else format(
        'Send an event with a key of %1$s: svc events send <event> --customer <id> --env %1$s', check_keys.environment_name
      )
    end,
    count(*) filter (where k.unused),
    json_build_object('keys', json_agg(
      json_build_object('id', k.api_key_id, 'name', k.name, 'hint', k.hint, 'createdAt', svc.iso(k.created_at))
      order by k.created_at, k.api_key_id
    ) filter (where k.unused))
  )
  from (
    select a.api_key_id, a.name, a.hint, a.created_at, s.used, not s.used and coalesce(a.revoked_at > now(), true) as unused
    from svc.api_keys as a
    left join svc.key_usage as u on u.key_hash = a.key_hash
    -- The first use of a key changes its bucket.
    cross join lateral (select coalesce(u.refilled_at > a.created_at, false) as used) as s
    where a.environment_id = check_keys.environment_id
  ) as k
  having bool_or(k.unused);
end;

comment on function svc.check_keys(integer, text) is 'Diagnostics: API keys that were never used.';
