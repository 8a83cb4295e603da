-- One preview, with its progress.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND or PREVIEW_NOT_FOUND. Locks nothing.
create or replace function svc_api.get_preview(
  token_hash bytea, organization_id text, project_slug text, environment_name text, preview_id text
)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _environment constant record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'get_preview');
begin
  return svc.recompute_document(
    svc.find_job(_environment.environment_id, get_preview.preview_id, 'preview'), get_preview.environment_name
  );
end;
$$;

comment on function svc_api.get_preview(bytea, text, text, text, text) is 'One preview, with its progress.';
