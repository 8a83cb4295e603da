-- Lets this transaction evaluate customers of an environment: answers which of its two slots it holds until it ends, null where others hold
-- both. Nobody waits for a slot.
-- Raises nothing. Locks a row of svc.evaluation_slots.
create or replace function svc.take_evaluation_slot(environment_id integer)
returns smallint
language plpgsql
volatile
set search_path = ''
as $$
#variable_conflict use_column
declare
  _slot smallint;
begin
  for _attempt in 1..2 loop
    select s.slot into _slot
    from svc.evaluation_slots as s
    where s.environment_id = take_evaluation_slot.environment_id
    order by s.slot
    limit 1
    for update skip locked;
    exit when found;
    -- At its first evaluation an environment has none.
    exit when exists (select from svc.evaluation_slots as s where s.environment_id = take_evaluation_slot.environment_id);
    insert into svc.evaluation_slots (environment_id, slot)
    select take_evaluation_slot.environment_id, n from generate_series(1, 2) as n
    on conflict do nothing;
  end loop;
  return _slot;
end;
$$;

comment on function svc.take_evaluation_slot(integer) is 'Lets a transaction evaluate customers of an environment, two at once.';
