-- Lets this transaction evaluate customers of an environment: answers which of its two slots it holds until it ends, null if others hold
-- both. It never waits for a slot.
-- Raises nothing. Locks a row of svc.evaluation_slots.
create or replace function svc.take_evaluation_slot(environment_id integer)
returns smallint
language sql
volatile
set search_path = ''
begin atomic
select s.slot
from svc.evaluation_slots as s
where s.environment_id = take_evaluation_slot.environment_id
order by s.slot
limit 1
for update skip locked;
end;

comment on function svc.take_evaluation_slot(integer) is
  'Takes a free one of an environment''s two evaluation slots; null if there is none.';
