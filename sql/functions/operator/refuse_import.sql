-- Refuses to import an environment, with a message and advice for the operator.
-- Raises SV005 ENVIRONMENT_NOT_IMPORTED. Locks nothing.
create or replace function svc.refuse_import(message text, fix text)
returns void
language plpgsql
volatile
set search_path = ''
as $$
begin
  raise exception using
    errcode = 'SV005',
    message = 'ENVIRONMENT_NOT_IMPORTED',
    detail = jsonb_build_object('message', refuse_import.message, 'fix', refuse_import.fix)::text;
end;
$$;

comment on function svc.refuse_import(text, text) is 'Refuses to import an environment; raises ENVIRONMENT_NOT_IMPORTED.';
