-- A webhook's address without its path and query, which may be the receiver's only secret: for documents about other things, and for
-- members who may not change the webhook.
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
