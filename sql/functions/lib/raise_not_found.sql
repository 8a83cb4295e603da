-- Reports that no thing with the requested id exists, and what to do, with further members of the error's detail in more.
-- Always raises SV004 with this code. Locks nothing.
create or replace function svc.raise_not_found(code text, subject text, id text, place text, fix text, more jsonb default '{}')
returns void
language plpgsql
stable
set search_path = ''
as $$
begin
  raise exception using
    errcode = 'SV004',
    message = raise_not_found.code,
    detail = jsonb_build_object(
      'message', format('There is no %s "%s" %s.', subject, left(raise_not_found.id, 256), place),
      'fix', fix
    ) || more;
end;
$$;

comment on function svc.raise_not_found(text, text, text, text, text, jsonb) is 'Raises SV004: a thing with this id does not exist.';
