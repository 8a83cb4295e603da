-- Whether a worker whose last heartbeat was then is alive. A later one than now was written before the database's clock was set back: a
-- worker that is alive replaces it within a second.
-- Raises nothing, locks nothing.
create or replace function svc.is_alive(seen_at timestamptz)
returns boolean
language sql
stable
parallel safe
return is_alive.seen_at > now() - interval '30 seconds' and is_alive.seen_at < now() + interval '30 seconds';

comment on function svc.is_alive(timestamptz) is 'Whether a worker whose last heartbeat was then is alive.';
