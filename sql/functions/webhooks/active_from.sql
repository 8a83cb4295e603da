-- From when on attempts say something of a webhook that has been as it is since then. An instant after the present one was written before
-- the database's clock was set back: then all attempts do. Immutable, so that a cluster accepts it everywhere.
-- Raises nothing, locks nothing.
create or replace function svc.active_from(active_since timestamptz, at timestamptz)
returns timestamptz
language sql
immutable
parallel safe
return case when active_from.active_since > active_from.at + interval '1 minute' then '-infinity' else active_from.active_since end;

comment on function svc.active_from(timestamptz, timestamptz) is 'From when on attempts say something of a webhook.';
