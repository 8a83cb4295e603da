-- What evaluation emitted about one customer, oldest first.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND or CUSTOMER_NOT_FOUND, SV006 VALIDATION_ERROR (cursor).
-- Locks nothing.
create or replace function svc_api.customer_timeline(
  token_hash bytea, organization_id text, project_slug text, environment_name text, customer_id text, row_limit integer, "cursor" text
)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _actor constant iam.actor := iam.authorize(
    customer_timeline.token_hash, customer_timeline.organization_id, 'customer_timeline', customer_timeline.environment_name
  );
  _environment record := svc.find_environment(
    customer_timeline.organization_id, customer_timeline.project_slug, customer_timeline.environment_name
  );
  _after constant bigint := coalesce(svc.decode_cursor('timeline', customer_timeline.cursor, '^[0-9]{1,18}$')::bigint, 0);
begin
  perform svc.require_customer(_environment.environment_id, customer_timeline.customer_id);
  return (
    select svc.page(
      'timeline', array_agg(r.item order by r.emission_seq), array_agg(r.emission_seq::text order by r.emission_seq), row_limit
    )
    from (
      select
        m.emission_seq,
        json_build_object(
          'id', svc.emission_id(m.emission_seq),
          'at', svc.iso(m.emitted_at),
          'type', m.event_type,
          'source', m.source,
          'metadata', m.metadata,
          'cause', json_build_object('type', m.cause_type, 'id', m.cause_id),
          'configVersion', 'v' || m.config_version
        ) as item
      from svc.emissions as m
      where m.environment_id = _environment.environment_id
        and m.customer_id = customer_timeline.customer_id
        and m.emission_seq > _after
      order by m.emission_seq
      limit row_limit + 1
    ) as r
  );
end;
$$;

comment on function svc_api.customer_timeline(bytea, text, text, text, text, integer, text) is
  'What evaluation emitted about a customer, oldest first.';
