-- Checks whether an operation is allowed before the request's body is read: a body from a client that may not send it is not worth its
-- size. The operation itself checks again.
-- Raises SV001 INVALID_SESSION, SV004 ORGANIZATION_NOT_FOUND, SV003 FORBIDDEN, SV002 PLAN_REQUIRED. Locks nothing.
create or replace function svc_api.authorize_request(token_hash bytea, organization_id text, operation text, environment text)
returns void
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  perform iam.authorize(
    authorize_request.token_hash, authorize_request.organization_id, authorize_request.operation, authorize_request.environment
  );
end;
$$;

comment on function svc_api.authorize_request(bytea, text, text, text) is 'Raises unless the token may do the operation.';
