-- Whether a look that found no operation of an environment may have missed some: a call is under way, or has ended since. A call that
-- finds a job that nobody took asks for none of its own (svc.request_evaluation); where that is the job that looked, nobody else would
-- look before the next tick.
-- Raises nothing, locks nothing.
create or replace function svc.may_have_missed_operations(environment_id integer)
returns boolean
language plpgsql
volatile
set search_path = ''
as $$
begin
  -- The calls before the rows: of a call that ends in between the rows are seen.
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

comment on function svc.may_have_missed_operations(integer) is 'Whether a look at the inbox may have been too early.';
