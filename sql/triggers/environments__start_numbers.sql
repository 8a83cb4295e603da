-- Every environment numbers its calls and emissions by itself, whatever made it.
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
  return null;
end;
$$;

comment on function svc.tg_environments__start_numbers() is 'Makes the sequences of a new environment.';

create or replace trigger _500_start_numbers
after insert on svc.environments
for each row
execute function svc.tg_environments__start_numbers();

comment on trigger _500_start_numbers on svc.environments is 'Makes the sequences that number its calls and emissions.';
