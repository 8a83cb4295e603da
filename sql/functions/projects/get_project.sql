-- One project with the active versions of its environments.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND. Locks nothing.
create or replace function svc_api.get_project(token_hash bytea, organization_id text, project_slug text)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _actor constant iam.actor := iam.authorize(token_hash, organization_id, 'get_project');
begin
  return svc.project_document(svc.find_project(_actor.organization_id, get_project.project_slug));
end;
$$;

comment on function svc_api.get_project(bytea, text, text) is 'One project with the active versions of its environments.';
