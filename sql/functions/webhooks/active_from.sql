-- From when on a webhook gets emissions that was created at an instant, and attempts say something of one that has been as it is since an
-- instant. One in the future was written before the database's clock was set back: then all do. Immutable, so that a cluster accepts it.
-- Raises nothing, locks nothing.
create or replace function svc.active_from(active_since timestamptz, at timestamptz)
returns timestamptz
language sql
immutable
parallel safe
return case when active_from.active_since > active_from.at + interval '1 minute' then '-infinity' else active_from.active_since end;

comment on function svc.active_from(timestamptz, timestamptz) is 'From when on emissions and attempts count for a webhook.';
