-- A finding of the diagnostics as its document: what is wrong, in a sentence, what to do about it, how much of it there is (of more than
-- 10,000, that many) and what helps to find it. severity is problem (something stands still or is lost), warning (something is probably
-- not as it was meant) or info.
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

comment on function svc.finding(text, text, text, text, bigint, json) is 'A finding of the diagnostics as its document.';
