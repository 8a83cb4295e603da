-- Writes an entry of the audit log, in the transaction of the change that it tells of. target is the id or name of what was changed, never
-- of a customer: the entry outlives the customer's erasure.
-- Raises nothing, locks nothing.
create or replace function iam.record_audit(
  actor iam.actor, request_id text, action text, project text, environment text, target text, details jsonb
)
returns void
language sql
volatile
set search_path = ''
as $$
  insert into iam.audit_log (
    organization_id, actor_user_id, actor, token_id, request_id, action, project, environment, target, details
  )
  values (
    record_audit.actor.organization_id, record_audit.actor.user_id, record_audit.actor.email, record_audit.actor.token_id,
    record_audit.request_id, record_audit.action, record_audit.project, record_audit.environment, record_audit.target,
    coalesce(record_audit.details, '{}')
  );
$$;

comment on function iam.record_audit(iam.actor, text, text, text, text, text, jsonb) is 'Writes an entry of the audit log.';
