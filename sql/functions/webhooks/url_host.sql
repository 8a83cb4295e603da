-- The host of a webhook's address, and its port where one is written: what may be told of it where its path and query, which may hold a
-- secret of the receiver's, may not.
-- Raises nothing, locks nothing.
create or replace function svc.url_host(url text)
returns text
language sql
immutable
strict
parallel safe
set search_path = ''
return substring(url_host.url from '^[A-Za-z]+:[/\\]*([^/\\?#]*)');

comment on function svc.url_host(text) is 'Host and port of an address, without its path and query.';
