-- The host of a webhook's address, with a port if there is one: the part that may be shown when path and query, which may contain a
-- secret of the receiver, may not.
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
