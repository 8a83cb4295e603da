-- Refuses a change of a frozen environment. A repeated request reaches the environment in its new database, or here once it is no longer
-- frozen.
-- Raises SV012 SERVICE_UNAVAILABLE. Locks nothing.
create or replace function svc.raise_frozen()
returns void
language plpgsql
volatile
set search_path = ''
as $$
begin
  raise exception using
    errcode = 'SV012',
    message = 'SERVICE_UNAVAILABLE',
    detail = jsonb_build_object(
      'message', 'The environment is frozen: it moves to another database.',
      'reason', 'A change made here now would be missing there.',
      'fix', 'Send the same request again after the number of seconds in Retry-After; the operator says where the environment moves to.'
    )::text;
end;
$$;

comment on function svc.raise_frozen() is 'Refuses a change of a frozen environment; raises SERVICE_UNAVAILABLE.';
