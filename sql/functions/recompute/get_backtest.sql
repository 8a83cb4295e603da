-- One backtest, with its progress and its report.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND or BACKTEST_NOT_FOUND. Locks nothing.
create or replace function svc_api.get_backtest(
  token_hash bytea, organization_id text, project_slug text, environment_name text, backtest_id text
)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _environment constant record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'get_backtest');
begin
  return svc.backtest_document(
    svc.find_job(_environment.environment_id, get_backtest.backtest_id, 'backtest'), get_backtest.environment_name
  );
end;
$$;

comment on function svc_api.get_backtest(bytea, text, text, text, text) is 'One backtest, with its progress and its report.';
