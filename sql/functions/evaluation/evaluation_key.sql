-- The key of an evaluation job in graphile-worker's queue, by whose index of keys the jobs of an organization or an environment are found,
-- however many others wait. Numbers have at most 15 digits. The parts of a key have a fixed width, so that in every collation the keys of
-- an environment are between those with its lowest and its highest number, and the keys of an organization between those of the lowest and
-- the highest environment.
-- Raises nothing, locks nothing.
create or replace function svc.evaluation_key(organization_id text, environment_id integer, number bigint)
returns text
language sql
immutable
parallel safe
return 'evaluation ' || evaluation_key.organization_id || ' ' || lpad(evaluation_key.environment_id::text, 10, '0')
  || ' ' || lpad(evaluation_key.number::text, 15, '0');

comment on function svc.evaluation_key(text, integer, bigint) is 'The key of an evaluation job in the queue.';
