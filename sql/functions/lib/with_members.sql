-- Appends members to a document. Both are non-empty objects as json_build_object makes them; numbers in them stay unchanged.
-- Raises nothing, locks nothing.
create or replace function svc.with_members(document json, members json)
returns json
language sql
immutable
strict
parallel safe
set search_path = ''
return concat(left(with_members.document::text, -1), ', ', substr(with_members.members::text, 2))::json;

comment on function svc.with_members(json, json) is 'A JSON object with further members after its own.';
