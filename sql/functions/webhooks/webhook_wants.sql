-- Whether a webhook with these event types and this age limit receives an emission: its type is one of them, or begins with one up to its
-- trailing *, and the change was not too old when the emission was written. So changes found by a backfill count with their real age.
-- Raises nothing, locks nothing.
create or replace function svc.webhook_wants(
  event_types text[], max_event_age text, event_type text, emitted_at timestamptz, created_at timestamptz
)
returns boolean
language sql
-- Parsing an interval is only stable, because of the formats that settings allow.
stable
parallel safe
set search_path = ''
return exists (
  select 1
  from unnest(webhook_wants.event_types) as p (pattern)
  where svc.matches_type(webhook_wants.event_type, p.pattern)
)
and (
  webhook_wants.max_event_age is null
  -- In seconds, because the length of a day depends on the time zone.
  or extract(epoch from webhook_wants.created_at - webhook_wants.emitted_at)
    <= extract(epoch from webhook_wants.max_event_age::interval)
);

comment on function svc.webhook_wants(text[], text, text, timestamptz, timestamptz) is
  'Whether a webhook receives an emission, by its type and its age.';
