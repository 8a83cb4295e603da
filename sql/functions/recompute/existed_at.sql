-- Whether a customer existed when a job was pinned, by its creation; also if that lies in the future, because it was created before the
-- database's clock was set back.
-- Raises nothing, locks nothing.
create or replace function svc.existed_at(created_at timestamptz, pinned_at timestamptz)
returns boolean
language sql
stable
parallel safe
return existed_at.created_at <= existed_at.pinned_at or existed_at.created_at > now() + svc.punctual();

comment on function svc.existed_at(timestamptz, timestamptz) is 'Whether a customer existed when a job was pinned.';
