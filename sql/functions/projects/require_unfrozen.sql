-- Refuses a change of a frozen environment before anything is locked for it. iam.record_audit refuses it as well, but at the end of the
-- change: until then it and the deletion of the environment could wait for each other.
-- Raises SV012 SERVICE_UNAVAILABLE. Locks nothing.
create or replace function svc.require_unfrozen(environment_id integer)
returns void
language plpgsql
volatile
set search_path = ''
as $$
begin
  if svc.is_frozen(require_unfrozen.environment_id) then
    perform svc.raise_frozen();
  end if;
end;
$$;

comment on function svc.require_unfrozen(integer) is 'Refuses a change of a frozen environment; raises SERVICE_UNAVAILABLE.';
