-- Which version became active in an environment, when, and who activated it, newest first.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND, SV006 VALIDATION_ERROR (cursor). Locks nothing.
create or replace function svc_api.list_activations(
  token_hash bytea, organization_id text, project_slug text, environment_name text, row_limit integer, "cursor" text
)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _environment constant record := svc.authorize_environment(
    token_hash, organization_id, project_slug, environment_name, 'list_activations'
  );
  _before constant bigint := svc.decode_cursor('activations', list_activations.cursor, '^[0-9]{1,18}$')::bigint;
begin
  return (
    select svc.page('activations', array_agg(r.item order by r.seq desc), array_agg(r.seq::text order by r.seq desc), row_limit)
    from (
      select
        a.activation_seq as seq,
        json_build_object(
          'version', 'v' || a.version,
          'previousVersion', 'v' || a.previous_version,
          'kind', a.kind,
          'actor', a.actor,
          'at', svc.iso(a.activated_at)
        ) as item
      from svc.config_activations as a
      where a.environment_id = _environment.environment_id
        and (_before is null or a.activation_seq < _before)
      order by a.activation_seq desc
      limit row_limit + 1
    ) as r
  );
end;
$$;

comment on function svc_api.list_activations(bytea, text, text, text, integer, text) is
  'Which version became active in an environment, when, and who activated it.';
