--! Previous: sha1:2ccd76c9ebc1200129a7d6e914bfa6a397653d3b
--! Hash: sha1:e1faada49d2032329578e584843728bbe4c98138

-- Every environment numbers its calls and emissions by itself, above all that the shared sequences can reach while functions of before are
-- at work. Those stay for them, and go in the release after this; where there is no environment nobody uses them. Takes two locks for each
-- environment until it ends: where there are thousands of environments, max_locks_per_transaction must allow for them.
create or replace function svc.start_numbers(environment_id integer)
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  _kind record;
  _name text;
  _first bigint;
begin
  for _kind in
    select k.name, k.room, k.note
    from (values
      ('batch_seq', 2199023255552, 'Numbers ingest calls of the environment in order of acceptance.'),
      ('evaluation_seq', 34359738368, 'Numbers the write-backs of the environment''s evaluation.')
    ) as k (name, room, note)
  loop
    _name := format('svc.%s_%s', _kind.name, start_numbers.environment_id);
    _first := coalesce(pg_sequence_last_value(to_regclass('svc.' || _kind.name)), 0) + 268435456 + floor(random() * _kind.room)::bigint;
    execute format('create sequence %s as bigint start with %s', _name, _first);
    execute format('comment on sequence %s is %L', _name, _kind.note);
    -- As if the first were used: a sequence that was never used has no last value.
    perform setval(_name::regclass, _first);
  end loop;
end;
$$;

comment on function svc.start_numbers(integer) is 'Makes the sequences of a new environment, each from a random number on.';

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

-- Whoever creates a project or deploys waits from here on, two milliseconds for each environment.
create or replace trigger _500_start_numbers
after insert on svc.environments
for each row
execute function svc.tg_environments__start_numbers();

comment on trigger _500_start_numbers on svc.environments is 'Makes the sequences that number its calls and emissions.';

select svc.start_numbers(e.environment_id)
from svc.environments as e
where to_regclass('svc.batch_seq_' || e.environment_id) is null
order by e.environment_id;

do $$
begin
  if not exists (select from svc.environments) then
    drop sequence if exists svc.batch_seq, svc.evaluation_seq;
  end if;
end
$$;

-- Nobody is known to hold a job that runs meanwhile: it is taken over, and what its former holder still writes is refused.
alter table svc.recomputes add column if not exists holder_pid integer;
alter table svc.recomputes add column if not exists holder_key integer;
comment on column svc.recomputes.holder_pid is 'Whose the present attempt is: the process of the session that took it.';
comment on column svc.recomputes.holder_key is
  'By which that session is known to live: it holds the advisory lock (7501, holder_key), drawn by lot, to its end.';
