-- Makes the sequences of a new environment. An id tells its number, so a sequence that environments shared would tell each how much the
-- others do. They begin at random, so that two environments do not give the same ids: a receiver of webhooks of both drops what it knows.
-- The numbers of operations (batch_seq * 1024) and of emissions (evaluation_seq * 65536) begin below 2^52, so as many are left below 2^53.
-- Raises 42P07 where they are there. Locks nothing that others use.
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
    -- As if the first were used: a sequence that was never used has no last value.
    perform setval(_name::regclass, _first);
  end loop;
end;
$$;

comment on function svc.start_numbers(integer) is 'Makes the sequences of a new environment, each from a random number on.';
