-- Returns set-aside customers to evaluation, with all their waiting operations: one customer, or all of the environment if customer_id is
-- null. Answers {released}, their number. Events in the future wait as ordinary ones at first: evaluation defers them again.
-- Raises what iam.authorize and iam.record_audit raise, SV004 PROJECT_NOT_FOUND or CUSTOMER_NOT_FOUND. Locks the customers' rows, in id
-- order, and their inbox rows.
create or replace function svc_api.release_customers(
  token_hash bytea, organization_id text, request_id text, project_slug text, environment_name text, customer_id text
)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _environment record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'release_customers');
  _released text[];
begin
  perform svc.require_unfrozen(_environment.environment_id);
  if release_customers.customer_id is not null then
    perform svc.require_customer(_environment.environment_id, release_customers.customer_id);
  end if;

  _released := array(
    select c.customer_id
    from svc.customers as c
    where c.environment_id = _environment.environment_id
      and c.set_aside_at is not null
      and (release_customers.customer_id is null or c.customer_id = release_customers.customer_id)
    order by c.customer_id
    for update
  );

  if _released <> '{}' then
    update svc.customers as c
    set set_aside_at = null, set_aside_error = null
    where c.environment_id = _environment.environment_id and c.customer_id = any(_released);

    update svc.inbox as i
    set not_before = null
    where i.environment_id = _environment.environment_id and i.customer_id = any(_released) and i.not_before is not null;

    perform svc.request_evaluation(array[_environment.environment_id]);
    perform iam.record_audit(
      _environment.actor, release_customers.request_id, 'customers.released', release_customers.project_slug,
      release_customers.environment_name, null, jsonb_build_object('customers', cardinality(_released))
    );
  end if;
  return json_build_object('released', cardinality(_released));
end;
$$;

comment on function svc_api.release_customers(bytea, text, text, text, text, text) is
  'Returns a set-aside customer, or all of them, to evaluation.';
