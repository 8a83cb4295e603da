-- Notes where people reach the service, for links in deliveries from now on: each HTTP process does as it starts.
-- Raises nothing. Locks the row, where it changes it.
create or replace function svc_api.note_public_url(url text)
returns void
language sql
volatile
security definer
set search_path = ''
begin atomic
  insert into svc.public_url as p (url)
  values (note_public_url.url)
  on conflict (is_only) do update
  set url = excluded.url
  where p.url <> excluded.url;
end;

comment on function svc_api.note_public_url(text) is 'Notes where people reach the service, for links in deliveries.';
