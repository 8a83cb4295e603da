-- Violations of the last 30 days that the active version, which is not strict, only counted, if another snapshot is strict and declares
-- the violated event, or the traits, as before; and those that other versions counted, of events that neither declares: one row for all
-- of them, or none.
-- Raises nothing, locks nothing.
create or replace function svc.stranded_violations(environment_id integer, active_version integer, active json, snapshot json)
returns table (code text, message text, path text)
language sql
stable
set search_path = ''
as $$
  select
    'VIOLATIONS_COUNTED',
    format(
      'The schema becomes strict, and %s of the last 30 days violated it; the strict schema %s such operations from now on.',
      svc.count_text(sum(v.operations)::bigint, 'operation', 'operations'), svc.strict_schema_verb(stranded_violations.snapshot)
    ),
    'strictSchema'
  from svc.schema_violations as v
  where v.environment_id = stranded_violations.environment_id
    and (
      v.version = stranded_violations.active_version
      or (v.event <> '' and not (stranded_violations.active -> 'events')::jsonb ? v.event)
    )
    and v.last_seen_at > now() - interval '30 days'
    and (stranded_violations.snapshot ->> 'strictSchema')::boolean
    and not (stranded_violations.active ->> 'strictSchema')::boolean
    and case v.event
      when '' then (stranded_violations.active -> 'traits')::jsonb = (stranded_violations.snapshot -> 'traits')::jsonb
      else (stranded_violations.active -> 'events' -> v.event)::jsonb
        is not distinct from (stranded_violations.snapshot -> 'events' -> v.event)::jsonb
    end
  having count(*) > 0;
$$;

comment on function svc.stranded_violations(integer, integer, json, json) is
  'Violations that were only counted, and that a strict snapshot would not accept.';
