-- Refuses a filter by a name or value that the active version does not declare.
-- Raises SV006 VALIDATION_ERROR with what it declares. Locks nothing.
create or replace function svc.raise_undeclared(field text, value text, reason text, known text[])
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  raise exception using
    errcode = 'SV006',
    message = 'VALIDATION_ERROR',
    detail = jsonb_build_object(
      'field', raise_undeclared.field,
      'value', left(raise_undeclared.value, 256),
      'reason', raise_undeclared.reason,
      'unknown', json_build_object('name', raise_undeclared.value, 'known', raise_undeclared.known)
    )::text;
end;
$$;

comment on function svc.raise_undeclared(text, text, text, text[]) is
  'Refuses a filter by a name or value that the active version does not declare.';
