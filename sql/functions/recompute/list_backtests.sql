-- The backtests of an environment, newest first.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND, SV006 VALIDATION_ERROR (cursor). Locks nothing.
create or replace function svc_api.list_backtests(
  token_hash bytea, organization_id text, project_slug text, environment_name text, row_limit integer, "cursor" text
)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _environment constant record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'list_backtests');
  _before constant bigint := coalesce(
    svc.decode_cursor('backtests', list_backtests.cursor, '^[0-9]{1,18}$')::bigint, 9223372036854775807
  );
  _backtest svc.recomputes;
  _items json[];
  _positions text[];
begin
  for _backtest in
    select r.*
    from svc.recomputes as r
    where r.environment_id = _environment.environment_id and r.kind = 'backtest' and r.recompute_seq < _before
    order by r.recompute_seq desc
    limit list_backtests.row_limit + 1
  loop
    _items := array_append(_items, svc.backtest_document(_backtest, list_backtests.environment_name));
    _positions := array_append(_positions, _backtest.recompute_seq::text);
  end loop;
  return svc.page('backtests', _items, _positions, list_backtests.row_limit);
end;
$$;

comment on function svc_api.list_backtests(bytea, text, text, text, integer, text) is
  'The backtests of an environment, newest first.';
