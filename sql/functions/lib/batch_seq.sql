-- The sequence that numbers the ingest calls of an environment.
-- Raises 42P01 if it does not exist. Locks nothing.
create or replace function svc.batch_seq(environment_id integer)
returns regclass
language sql
stable
strict
parallel safe
return ('svc.batch_seq_' || batch_seq.environment_id)::regclass;

comment on function svc.batch_seq(integer) is 'The sequence that numbers the ingest calls of an environment.';
