-- CONFIGURATION_MISSING if nothing is deployed in an environment, else null.
-- Raises nothing, locks nothing.
create or replace function svc.check_configuration(environment_name text, active_version integer)
returns json
language sql
stable
set search_path = ''
begin atomic
  select svc.finding(
    'CONFIGURATION_MISSING',
    'problem',
    format(
      'No configuration is deployed in %s: any event and any trait is accepted, and nothing is derived from them.',
      check_configuration.environment_name
    ),
    format('Deploy a model: svc deploy --env %s', check_configuration.environment_name),
    1,
    null
  )
  where check_configuration.active_version is null;
end;

comment on function svc.check_configuration(text, integer) is 'Diagnostics: whether a configuration is active.';
