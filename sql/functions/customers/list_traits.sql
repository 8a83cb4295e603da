-- Some traits of some customers, for lists that show them: {customerId: {trait: text}}. Each value is cut to 256 characters; customers
-- and traits that do not exist are left out.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND. Locks nothing.
create or replace function svc_api.list_traits(
  token_hash bytea, organization_id text, project_slug text, environment_name text, customer_ids text[], names text[]
)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _environment constant record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'list_traits');
begin
  return (
    select coalesce(json_object_agg(c.customer_id, t.texts), '{}')
    from svc.customers as c
    cross join lateral (
      select coalesce(json_object_agg(n.name, left(c.traits ->> n.name, 256)), '{}') as texts
      from unnest(list_traits.names) as n (name)
      where c.traits ? n.name
    ) as t
    where c.environment_id = _environment.environment_id and c.customer_id = any(list_traits.customer_ids)
  );
end;
$$;

comment on function svc_api.list_traits(bytea, text, text, text, text[], text[]) is 'Some traits of some customers, as text.';
