-- Stores the public address of the service, for links in future deliveries: each HTTP process calls it as it starts.
-- Raises nothing. Locks the row if it changes it.
create or replace function svc_api.store_public_url(url text)
returns void
language sql
volatile
security definer
set search_path = ''
begin atomic
  insert into svc.public_url as p (url)
  values (store_public_url.url)
  on conflict (is_only) do update
  set url = excluded.url
  where p.url <> excluded.url;
end;

comment on function svc_api.store_public_url(text) is 'Stores the public address of the service, for links in deliveries.';
