-- The public address of the service, as its HTTP processes stored it; null before the first one started.
-- Raises nothing, locks nothing.
create or replace function svc_api.operator_public_url()
returns text
language sql
stable
security definer
set search_path = ''
return (select p.url from svc.public_url as p);

comment on function svc_api.operator_public_url() is 'The public address of the service; for the operator only.';
