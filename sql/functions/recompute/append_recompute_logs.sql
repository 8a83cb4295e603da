-- Writes a part of the logs of a customer whose history is too long to be held at once, under the generation that svc_api.apply_recompute
-- makes current later in the same transaction.
-- Raises the constraints' errors. Locks nothing more than the rows it writes.
create or replace function svc_api.append_recompute_logs(
  environment_id integer, version integer, transitions json, rule_executions json
)
returns void
language sql
volatile
security definer
set search_path = ''
as $$
  select svc.write_effects(
    append_recompute_logs.environment_id, append_recompute_logs.version, append_recompute_logs.transitions, null, null, null, null,
    append_recompute_logs.rule_executions, null
  );
$$;

comment on function svc_api.append_recompute_logs(integer, integer, json, json) is 'Writes a part of the logs of a long replay.';
