-- One page of a list that reads no more than so many rows at once, however few of them its filters pass. resume is the position of the
-- last row read where reading ended before the page was full: the page is short then, even empty, and the list continues after it all
-- the same. Otherwise as svc.page.
-- Raises nothing, locks nothing.
create or replace function svc.partial_page(list text, items json[], positions text[], row_limit integer, resume text)
returns json
language sql
stable
parallel safe
set search_path = ''
return json_build_object(
  'data', coalesce(array_to_json(items[:row_limit]), '[]'),
  'nextCursor', svc.encode_cursor(list, case when cardinality(items) > row_limit then positions[row_limit] else resume end)
);

comment on function svc.partial_page(text, json[], text[], integer, text) is
  'A page of a list as {data, nextCursor}, where reading may have ended before the page was full.';
