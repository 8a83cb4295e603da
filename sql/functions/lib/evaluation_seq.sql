-- The sequence that numbers the write-backs of an environment's evaluation.
-- Raises 42P01 if it does not exist. Locks nothing.
create or replace function svc.evaluation_seq(environment_id integer)
returns regclass
language sql
stable
strict
parallel safe
return ('svc.evaluation_seq_' || evaluation_seq.environment_id)::regclass;

comment on function svc.evaluation_seq(integer) is 'The sequence that numbers the write-backs of an environment''s evaluation.';
