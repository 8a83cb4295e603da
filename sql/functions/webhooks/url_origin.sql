-- A webhook's address without its path and query, which may be the receiver's only secret: what is told of it beside something else, and to
-- whoever may not change it.
-- Raises nothing, locks nothing.
create or replace function svc.url_origin(url text)
returns text
language sql
immutable
strict
parallel safe
set search_path = ''
return substring(url_origin.url from '^[A-Za-z]+://[^/\\?#]*') || '/…';

comment on function svc.url_origin(text) is 'An address without its path and query.';
