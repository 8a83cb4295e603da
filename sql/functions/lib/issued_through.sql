-- The highest number that the ingest calls of an environment have reserved for their operations so far.
-- Raises 42P01 if the environment has no sequence. Locks nothing.
create or replace function svc.issued_through(environment_id integer)
returns bigint
language sql
volatile
set search_path = ''
return coalesce(pg_sequence_last_value(svc.batch_seq(issued_through.environment_id)), 0) * 1024 + 1023;

comment on function svc.issued_through(integer) is 'The highest number reserved for operations of an environment.';
