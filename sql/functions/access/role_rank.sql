-- Orders the roles: each may do everything that the lower ones may.
-- Raises case_not_found (20000) for an unknown role, which would be a bug. Locks nothing.
create or replace function iam.role_rank(role text)
returns integer
language plpgsql
immutable
strict
set search_path = ''
as $$
begin
  case role_rank.role
    when 'viewer' then return 1;
    when 'developer' then return 2;
    when 'administrator' then return 3;
    when 'owner' then return 4;
  end case;
end;
$$;

comment on function iam.role_rank(text) is 'The rank of a role: viewer 1, developer 2, administrator 3, owner 4.';
