-- What still waits for a customer's evaluation: the number of operations, how many of them occur in the future, and why the customer was
-- set aside, if it was: {pending, ahead, setAside: {at, error} or null}.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND or CUSTOMER_NOT_FOUND. Locks nothing.
create or replace function svc_api.customer_backlog(
  token_hash bytea, organization_id text, project_slug text, environment_name text, customer_id text
)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _environment record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'customer_backlog');
begin
  perform svc.require_customer(_environment.environment_id, customer_backlog.customer_id);
  return (
    select json_build_object(
      'pending', i.pending,
      'ahead', i.ahead,
      'setAside',
      case
        when c.set_aside_at is not null
          then json_build_object('at', svc.iso(c.set_aside_at), 'error', c.set_aside_error)
      end
    )
    from svc.customers as c
    cross join lateral (
      select
        count(*) as pending,
        count(*) filter (where k.not_before > now() and k.not_before < 'infinity') as ahead
      from svc.inbox as k
      where k.environment_id = _environment.environment_id and k.customer_id = customer_backlog.customer_id
    ) as i
    where c.environment_id = _environment.environment_id and c.customer_id = customer_backlog.customer_id
  );
end;
$$;

comment on function svc_api.customer_backlog(bytea, text, text, text, text) is
  'What waits for a customer''s evaluation, and whether the customer was set aside.';
