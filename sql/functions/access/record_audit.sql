-- Writes an entry of the audit log, in the transaction of the change it describes. target is the id or name of what was changed, never of
-- a customer: the entry outlives the customer's erasure. Entries are never removed, so each member's changes per minute are limited by the
-- plan; a member over the limit does not block others. Removals are never refused, as there are no more of them than of creations.
-- Concurrent requests can exceed the limit by a few.
-- A frozen environment must not change: its copy in another database would miss it. Actions that only read it are recorded nevertheless.
-- Raises SV009 QUOTA_EXCEEDED, SV012 for a frozen environment. Locks nothing.
create or replace function iam.record_audit(
  actor iam.actor, request_id text, action text, project text, environment text, target text, details jsonb
)
returns void
language sql
volatile
set search_path = ''
as $$
  select svc.raise_frozen()
  from svc.environments as e
  join svc.projects as p on p.project_id = e.project_id
  where p.organization_id = record_audit.actor.organization_id
    and p.slug = record_audit.project
    and e.name = record_audit.environment
    and e.frozen_at is not null
    and record_audit.action not in ('ai.asked', 'customer.exported', 'environment.exported', 'environment.unfrozen');

  select iam.require_quota(
    record_audit.actor.organization_id,
    'changes',
    (
      select count(*)
      from iam.audit_log as a
      where a.organization_id = record_audit.actor.organization_id
        and a.actor = record_audit.actor.email
        and a.at > now() - interval '1 minute'
        -- Later ones are from before the clock was set back.
        and a.at < now() + interval '1 minute'
    )
  )
  where record_audit.actor.user_id is not null
    and record_audit.action not in (
      'key.revoked', 'token.revoked', 'member.removed', 'invitation.revoked', 'invitation.accepted', 'webhook.deleted', 'customer.erased'
    );

  insert into iam.audit_log (
    organization_id, actor_user_id, actor, token_id, request_id, action, project, environment, target, details, at
  )
  values (
    record_audit.actor.organization_id, record_audit.actor.user_id, record_audit.actor.email, record_audit.actor.token_id,
    record_audit.request_id, record_audit.action, record_audit.project, record_audit.environment, record_audit.target,
    -- The clock, not the start of the transaction, which may have waited for another change.
    coalesce(record_audit.details, '{}'), clock_timestamp()
  );
$$;

comment on function iam.record_audit(iam.actor, text, text, text, text, text, jsonb) is 'Writes an entry of the audit log.';
