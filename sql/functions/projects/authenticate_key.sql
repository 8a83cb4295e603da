-- Checks an ingestion key before the body is read: {organizationId, limit, remaining}, the last two of its rate bucket, for
-- the headers of requests that are refused without another query. The answer may be cached briefly: svc_api.ingest checks
-- again, so a revoked key stops working at once.
-- Raises SV001 INVALID_API_KEY. Locks nothing.
create or replace function svc_api.authenticate_key(key_hash bytea)
returns json
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  _allowance json;
begin
  select json_build_object(
    'organizationId', o.organization_id, 'limit', p.rate_burst, 'remaining', greatest(0, floor(r.tokens))::integer
  )
  into _allowance
  from svc.api_keys as k
  join svc.environments as e on e.environment_id = k.environment_id
  join svc.projects as j on j.project_id = e.project_id
  join iam.organizations as o on o.organization_id = j.organization_id
  join iam.plans as p on p.plan_id = o.plan_id
  join svc.key_usage as u on u.key_hash = k.key_hash
  cross join lateral (select svc.rate_tokens(u.tokens, u.refilled_at, now(), p.rate_per_second, p.rate_burst)) as r (tokens)
  where k.key_hash = authenticate_key.key_hash
    and (k.revoked_at is null or k.revoked_at > now());
  if not found then
    raise exception using errcode = 'SV001', message = 'INVALID_API_KEY';
  end if;
  return _allowance;
end;
$$;

comment on function svc_api.authenticate_key(bytea) is
  'Organization, rate limit and remaining operations of a valid ingestion key; raises INVALID_API_KEY for any other.';
