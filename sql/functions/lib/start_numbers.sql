-- Creates the sequences of a new environment. Each environment has its own because ids show their number, and a shared sequence would show
-- each how active the others are. They start at random, so that two environments do not use the same ids: a receiver of webhooks of both
-- drops ids that it knows. Numbers of operations (batch_seq * 1024) and emissions (evaluation_seq * 65536) begin below 2^52, so at least
-- as many remain below 2^53. Raises 42P07 if they exist. Locks nothing that others use.
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
    _first := 268435456 + floor(random() * _kind.room)::bigint;
    execute format('create sequence %s as bigint start with %s', _name, _first);
    execute format('comment on sequence %s is %L', _name, _kind.note);
    -- Mark the first number as used: a sequence that was never used has no last value.
    perform setval(_name::regclass, _first);
  end loop;
end;
$$;

comment on function svc.start_numbers(integer) is 'Creates the sequences of a new environment, each starting at a random number.';
