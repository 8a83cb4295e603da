-- Changes of a customer's health score, the last written first: those of the current history, or with superseded also those that
-- recomputes replaced, as far as they are kept.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND or CUSTOMER_NOT_FOUND, SV006 VALIDATION_ERROR (cursor). Locks nothing.
create or replace function svc_api.list_health_scores(
  token_hash bytea, organization_id text, project_slug text, environment_name text, customer_id text, superseded boolean,
  row_limit integer, "cursor" text
)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _environment constant record := svc.authorize_environment(
    token_hash, organization_id, project_slug, environment_name, 'list_health_scores'
  );
  _after constant bigint := svc.decode_cursor('health-scores', list_health_scores.cursor, '^[0-9]{1,18}$')::bigint;
  _generation integer;
  _items json[];
  _positions text[];
begin
  select c.generation into _generation
  from svc.customers as c
  where c.environment_id = _environment.environment_id and c.customer_id = list_health_scores.customer_id;
  if not found then
    perform svc.raise_customer_not_found(list_health_scores.customer_id);
  end if;

  select
    array_agg(r.item order by r.seq desc),
    array_agg(r.seq::text order by r.seq desc)
  into _items, _positions
  from (
    select
      t.score_seq as seq,
      json_build_object(
        'overall', trim_scale(t.overall),
        'components', t.components,
        'band', t.band,
        'at', svc.iso(t.scored_at),
        'cause', json_build_object('type', t.cause_type, 'id', t.cause_id),
        'configVersion', 'v' || t.config_version,
        'superseded', t.generation < _generation
      ) as item
    from svc.health_scores as t
    where t.environment_id = _environment.environment_id
      and t.customer_id = list_health_scores.customer_id
      and t.generation between case when list_health_scores.superseded then 0 else _generation end and _generation
      and (_after is null or t.score_seq < _after)
    order by t.generation desc, t.score_seq desc
    limit list_health_scores.row_limit + 1
  ) as r;
  return svc.page('health-scores', _items, _positions, list_health_scores.row_limit);
end;
$$;

comment on function svc_api.list_health_scores(bytea, text, text, text, text, boolean, integer, text) is
  'Changes of a customer''s health score, the newest first.';
