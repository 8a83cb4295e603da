-- Checks that the version which the caller saw as active still is. expected is null for no check, and 0 for no version.
-- Raises SV005 VERSION_CONFLICT, which names both. Locks nothing.
create or replace function svc.require_active_version(environment_name text, active_version integer, expected integer)
returns void
language plpgsql
immutable
set search_path = ''
as $$
begin
  if coalesce(require_active_version.active_version, 0) <> require_active_version.expected then
    raise exception using
      errcode = 'SV005',
      message = 'VERSION_CONFLICT',
      detail = jsonb_build_object(
        'message', format(
          '%s active in %s, but %s was expected.',
          coalesce('v' || require_active_version.active_version || ' is', 'No version is'),
          require_active_version.environment_name,
          coalesce('v' || nullif(require_active_version.expected, 0), 'none')
        ),
        'field', 'expected',
        'value', 'v' || nullif(require_active_version.expected, 0),
        'reason', 'Another version was activated meanwhile.',
        'fix', 'Compare the two versions, then send the request again and expect the one that is active now.'
      )::text;
  end if;
end;
$$;

comment on function svc.require_active_version(text, integer, integer) is 'Raises VERSION_CONFLICT unless the expected version is active.';
