-- Like iam.authorize, for changes to the people of an organization: such changes are serialized, so that each decides by the results of
-- the ones before. Two owners cannot remove each other, and a user who was just removed can no longer act.
-- Raises what iam.authorize raises. Locks the organization's row until the end of the transaction; rows that refer to it can be written
-- meanwhile.
create or replace function iam.authorize_exclusively(token_hash bytea, organization_id text, operation text)
returns iam.actor
language plpgsql
volatile
set search_path = ''
as $$
begin
  -- An unauthorized caller does not make others wait.
  perform iam.authorize(
    authorize_exclusively.token_hash, authorize_exclusively.organization_id, authorize_exclusively.operation
  );
  perform from iam.organizations as o
  where o.organization_id = authorize_exclusively.organization_id
  for no key update;
  -- A transaction that held the row may have changed the actor's permissions.
  return iam.authorize(
    authorize_exclusively.token_hash, authorize_exclusively.organization_id, authorize_exclusively.operation
  );
end;
$$;

comment on function iam.authorize_exclusively(bytea, text, text) is
  'Like iam.authorize, while no other transaction changes the people of the organization.';
