-- The failures of operations that would go into quarantine but find it full, by position: the usual violation, or the problem of a call,
-- with what to do. alone: paths are those of single events.
-- Raises nothing, locks nothing.
create or replace function svc.quarantine_full(project_id integer, version integer, operations jsonb, held jsonb, alone boolean)
returns jsonb
language sql
stable
set search_path = ''
as $$
  select jsonb_object_agg(
    h.key,
    jsonb_build_object('sqlstate', 'SV007', 'code', h.value ->> 'code', 'message', h.value ->> 'message', 'field', h.value ->> 'path')
    || coalesce(f.failures -> h.key, '{}')
    || jsonb_build_object(
      'reason', concat_ws(' ', 'The quarantine of this environment is full.', f.failures #>> array[h.key, 'reason']),
      'fix', 'Correct what is sent, or make room: svc events quarantine release, or discard.'
    )
  )
  from jsonb_each(quarantine_full.held) as h
  cross join (
    select svc.call_schema_failures(
      quarantine_full.project_id, quarantine_full.version, quarantine_full.operations,
      array(
        select k.key::bigint from jsonb_each(quarantine_full.held) as k
        where not quarantine_full.operations -> k.key::integer ? 'problem'
        order by 1
      ),
      quarantine_full.alone
    ) as failures
    offset 0
  ) as f;
$$;

comment on function svc.quarantine_full(integer, integer, jsonb, jsonb, boolean) is
  'Failures of operations that find the quarantine full.';
