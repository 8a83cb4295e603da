-- The headless tokens of an organization, newest first, including expired and revoked ones.
-- Raises SV004 ORGANIZATION_NOT_FOUND. Locks nothing.
create or replace function svc_api.operator_list_tokens(organization_slug text)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _organization_id constant text := iam.organization_of_slug(operator_list_tokens.organization_slug);
begin
  return (
    select coalesce(json_agg(iam.token_document(t) order by t.created_at desc, t.token_id desc), '[]')
    from iam.access_tokens as t
    where t.organization_id = _organization_id
  );
end;
$$;

comment on function svc_api.operator_list_tokens(text) is 'The headless tokens of an organization; for the operator only.';
