-- The failures of operations that would be kept in quarantine and find it full: the violation as ever, with what to do.
-- Raises nothing, locks nothing.
create or replace function svc.quarantine_full(failures jsonb)
returns jsonb
language sql
immutable
set search_path = ''
return (
  select jsonb_object_agg(
    f.key,
    f.value || jsonb_build_object(
      'reason', concat('The quarantine of this environment is full. ', f.value ->> 'reason'),
      'fix', 'Correct what is sent, or make room: svc events quarantine release, or discard.'
    )
  )
  from jsonb_each(quarantine_full.failures) as f
);

comment on function svc.quarantine_full(jsonb) is 'Failures of operations that find the quarantine full.';
