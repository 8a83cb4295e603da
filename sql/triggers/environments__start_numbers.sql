-- Every new environment gets its own sequences, which number its calls and emissions, and a row in svc.homes.
-- Raises nothing, locks nothing.
create or replace function svc.tg_environments__start_numbers()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  perform svc.start_numbers(new.environment_id);
  insert into svc.homes (environment_id, name) values (new.environment_id, new.name);
  return null;
end;
$$;

comment on function svc.tg_environments__start_numbers() is 'Creates the sequences of a new environment and its row in svc.homes.';

create or replace trigger _500_start_numbers
after insert on svc.environments
for each row
execute function svc.tg_environments__start_numbers();

comment on trigger _500_start_numbers on svc.environments is
  'Creates the sequences that number its calls and emissions, and its row in svc.homes.';

-- For environments created by a former release. A transaction that creates one waits for the lock of the trigger's replacement.
insert into svc.homes (environment_id, name) select e.environment_id, e.name from svc.environments as e on conflict do nothing;
