-- What was found wrong with the installation as a whole, in the form of the violations of svc_api.operator_examine: one, or none if nothing
-- was found.
-- Raises nothing, locks nothing.
create or replace function svc.installation_violations(invariant text, holds text, found text[], advice text)
returns json
language sql
stable
set search_path = ''
as $$
  select case
    when installation_violations.found = '{}' then '[]'
    else json_build_array(
      json_build_object(
        'invariant', installation_violations.invariant, 'holds', installation_violations.holds,
        'organization', null, 'project', null, 'environment', null,
        'violations', cardinality(installation_violations.found),
        'examples', array(select f.example from unnest(installation_violations.found) as f (example) order by f.example limit 5),
        'advice', installation_violations.advice
      )
    )
  end
$$;

comment on function svc.installation_violations(text, text, text[], text) is 'What was found wrong, in the form of operator_examine.';
