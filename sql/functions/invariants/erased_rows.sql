-- How many rows erasures have deleted in each environment so far, according to the audit log, in which the import of an environment
-- records the number until then; no row for an environment with neither. Erasures before an environment was deleted do not count.
-- Raises nothing, locks nothing.
create or replace function svc.erased_rows()
returns table (environment_id integer, events bigint, emissions bigint, recomputes bigint)
language sql
stable
set search_path = ''
as $$
  select
    e.environment_id, sum((a.details ->> 'events')::bigint)::bigint, sum((a.details ->> 'emissions')::bigint)::bigint,
    sum((a.details ->> 'recomputes')::bigint)::bigint
  from iam.audit_log as a
  join svc.projects as p on p.organization_id = a.organization_id and p.slug = a.project
  join svc.environments as e on e.project_id = p.project_id and e.name = a.environment
  where a.action in ('customer.erased', 'environment.imported')
    and a.audit_seq > coalesce(
      (
        select max(d.audit_seq)
        from iam.audit_log as d
        where d.organization_id = a.organization_id and d.project = a.project and d.environment = a.environment
          and d.action = 'environment.deleted'
      ),
      0
    )
  group by e.environment_id
$$;

comment on function svc.erased_rows() is 'How many rows erasures have deleted in each environment, according to the audit log.';
