-- Which operations of a call are in quarantine: {quarantined: {position: {code, message, path}}}. seqs are by position.
-- Raises nothing, locks nothing.
create or replace function svc.quarantined_among(environment_id integer, seqs bigint[])
returns json
language sql
stable
set search_path = ''
as $$
  select json_build_object(
    'quarantined',
    coalesce(json_object_agg(s.n - 1, json_build_object('code', q.code, 'message', q.message, 'path', q.path) order by s.n), '{}')
  )
  from unnest(quarantined_among.seqs) with ordinality as s (seq, n)
  join svc.quarantined_operations as q on q.environment_id = quarantined_among.environment_id and q.seq = s.seq;
$$;

comment on function svc.quarantined_among(integer, bigint[]) is 'Which operations of a call are in quarantine, by position.';
