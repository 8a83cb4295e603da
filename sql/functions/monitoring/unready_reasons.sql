-- What keeps the service from its work, one sentence each. Processes of the version before svc_api.failed_checks ask it.
-- Raises nothing, locks nothing.
create or replace function svc_api.unready_reasons()
returns text[]
language sql
stable
security definer
set search_path = ''
as $$
  select array(
    select 'No worker has shown a sign of life for 30 seconds.'
    where not exists (select 1 from svc.workers as w where w.seen_at > now() - interval '30 seconds')
  );
$$;

comment on function svc_api.unready_reasons() is 'Why the service is not ready, for GET /readyz; empty when it is.';
