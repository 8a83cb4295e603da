-- Whether a search that found no operation of an environment may have missed some: a call is in progress, or has ended since. A call that
-- finds an untaken job adds none of its own (svc.request_evaluation); if that is the job that just searched, nothing would search again
-- before the next tick.
-- Raises nothing, locks nothing.
create or replace function svc.may_have_missed_operations(environment_id integer)
returns boolean
language plpgsql
volatile
set search_path = ''
as $$
begin
  -- First the calls, then the rows: the rows of a call that ends in between are seen.
  if svc.accepted_through(may_have_missed_operations.environment_id)
    < svc.issued_through(may_have_missed_operations.environment_id)
  then
    return true;
  end if;
  return exists (
    select 1
    from svc.inbox as i
    where i.environment_id = may_have_missed_operations.environment_id and i.not_before is null
  );
end;
$$;

comment on function svc.may_have_missed_operations(integer) is 'Whether a search of the inbox may have been too early.';
