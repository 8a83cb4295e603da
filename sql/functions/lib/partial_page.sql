-- One page of a list that reads a limited number of rows at once, however few of them pass its filters. resume is the position of the
-- last row read if reading ended before the page was full: the page is then short or even empty, and the list continues after that
-- position. Otherwise like svc.page.
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
  'A page of a list as {data, nextCursor}, for lists that can stop reading before the page is full.';
