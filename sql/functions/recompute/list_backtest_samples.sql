-- The samples that a backtest recorded, by customer in order of their ids: {customerId, said, outcomes}. While it runs the list grows; 30
-- days after its end it is empty.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND or BACKTEST_NOT_FOUND, SV006 VALIDATION_ERROR (cursor). Locks nothing.
create or replace function svc_api.list_backtest_samples(
  token_hash bytea, organization_id text, project_slug text, environment_name text,
  backtest_id text, row_limit integer, "cursor" text
)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _environment constant record := svc.authorize_environment(
    token_hash, organization_id, project_slug, environment_name, 'list_backtest_samples'
  );
  _backtest constant svc.recomputes := svc.find_job(_environment.environment_id, list_backtest_samples.backtest_id, 'backtest');
begin
  return svc.recompute_page(
    'backtest_samples', _environment.environment_id, _backtest.recompute_id, true, list_backtest_samples.row_limit,
    list_backtest_samples.cursor
  );
end;
$$;

comment on function svc_api.list_backtest_samples(bytea, text, text, text, text, integer, text) is
  'The samples that a backtest recorded, by customer.';
