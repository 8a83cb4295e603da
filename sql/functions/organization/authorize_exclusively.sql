-- As iam.authorize, for what changes the people of an organization: such changes happen one after the other, so that each decides by what
-- the ones before it left. Two owners cannot remove each other, nor does somebody act who was removed a moment ago.
-- Raises what iam.authorize raises. Locks the organization's row until the end of the transaction; rows that refer to it can be written
-- meanwhile.
create or replace function iam.authorize_exclusively(token_hash bytea, organization_id text, operation text)
returns iam.actor
language plpgsql
volatile
set search_path = ''
as $$
begin
  -- Who may not do it does not make others wait.
  perform iam.authorize(
    authorize_exclusively.token_hash, authorize_exclusively.organization_id, authorize_exclusively.operation
  );
  perform from iam.organizations as o
  where o.organization_id = authorize_exclusively.organization_id
  for no key update;
  -- Whoever held the row may have changed what the actor may do.
  return iam.authorize(
    authorize_exclusively.token_hash, authorize_exclusively.organization_id, authorize_exclusively.operation
  );
end;
$$;

comment on function iam.authorize_exclusively(bytea, text, text) is
  'As iam.authorize, while no one else changes the people of the organization.';
