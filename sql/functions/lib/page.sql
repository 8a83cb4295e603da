-- One page of a list. The caller reads one row more than the limit, so that the last page is known to be the last. The members of the
-- document are data, then nextCursor. positions[i] is where the list continues after items[i].
-- Raises nothing, locks nothing.
create or replace function svc.page(list text, items json[], positions text[], row_limit integer)
returns json
language sql
stable
parallel safe
set search_path = ''
return svc.partial_page(list, items, positions, row_limit, null);

comment on function svc.page(text, json[], text[], integer) is 'A page of a list as {data, nextCursor}.';
