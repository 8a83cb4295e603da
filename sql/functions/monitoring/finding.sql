-- The document of a finding of the diagnostics: what is wrong, in a sentence, what to do about it, how often it occurs (at most 10,000)
-- and details that help to find it. severity is problem (something is blocked or lost), warning (something is probably not as intended)
-- or info.
-- Raises nothing, locks nothing.
create or replace function svc.finding(code text, severity text, message text, fix text, amount bigint, details json)
returns json
language sql
immutable
parallel safe
set search_path = ''
return json_build_object(
  'code', finding.code,
  'severity', finding.severity,
  'message', upper(left(finding.message, 1)) || substr(finding.message, 2),
  'fix', finding.fix,
  'count', least(finding.amount, 10000),
  'details', coalesce(finding.details, '{}')
);

comment on function svc.finding(text, text, text, text, bigint, json) is 'The document of a finding of the diagnostics.';
