-- A document with more members after its own. Both are objects as json_build_object makes them, and not empty; numbers in them stay as
-- they are.
-- Raises nothing, locks nothing.
create or replace function svc.with_members(document json, members json)
returns json
language sql
immutable
strict
parallel safe
set search_path = ''
return concat(left(with_members.document::text, -1), ', ', substr(with_members.members::text, 2))::json;

comment on function svc.with_members(json, json) is 'A JSON object with more members after its own.';
