-- The keys of an environment, newest first, without their secrets. Revoked ones stay in the list.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND, SV006 VALIDATION_ERROR (cursor). Locks nothing.
create or replace function svc_api.list_keys(
  token_hash bytea, organization_id text, project_slug text, environment_name text, row_limit integer, "cursor" text
)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _environment constant record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'list_keys');
  -- Microseconds since 1970, and the id: several keys may be created in one transaction.
  _before constant text := svc.decode_cursor('keys', list_keys.cursor, '^[0-9]{1,17} key_[0-9a-f]{20}$');
begin
  return (
    select svc.page('keys', array_agg(r.item order by r.n), array_agg(r.position order by r.n), row_limit)
    from (
      select
        row_number() over (order by k.made desc, k.api_key_id desc) as n,
        concat_ws(' ', k.made, k.api_key_id) as position,
        svc.key_document(k.key_hash) as item
      from (
        select a.key_hash, a.api_key_id, svc.microseconds(a.created_at) as made
        from svc.api_keys as a
        where a.environment_id = _environment.environment_id
      ) as k
      where _before is null
        or (k.made, k.api_key_id) < (split_part(_before, ' ', 1)::bigint, split_part(_before, ' ', 2))
      order by k.made desc, k.api_key_id desc
      limit row_limit + 1
    ) as r
  );
end;
$$;

comment on function svc_api.list_keys(bytea, text, text, text, integer, text) is 'The keys of an environment, newest first.';
