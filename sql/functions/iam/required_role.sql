-- The one table of who may do what: the least role that holds a permission. Nothing else decides on it.
-- Raises case_not_found (20000) for an unknown permission, which only a fault of ours can bring. Locks nothing.
create or replace function iam.required_role(permission text)
returns text
language plpgsql
immutable
strict
set search_path = ''
as $$
begin
  case required_role.permission
    when 'read' then return 'viewer';
    when 'deploy_test' then return 'developer';
    when 'deploy_live' then return 'administrator';
    when 'release_test' then return 'developer';
    when 'release_live' then return 'administrator';
    -- A project comes with a key to its live environment.
    when 'create_project' then return 'administrator';
    when 'manage_webhooks' then return 'administrator';
  end case;
end;
$$;

comment on function iam.required_role(text) is 'The least role that holds a permission.';
