-- Whether a webhook with these event types wants an emission of that type: a pattern matches exactly, or up to its trailing *.
-- Raises nothing, locks nothing.
create or replace function svc.webhook_matches(event_types text[], event_type text)
returns boolean
language sql
immutable
strict
parallel safe
set search_path = ''
return exists (
  select 1
  from unnest(webhook_matches.event_types) as p (pattern)
  where p.pattern = webhook_matches.event_type
    or (right(p.pattern, 1) = '*' and starts_with(webhook_matches.event_type, left(p.pattern, -1)))
);

comment on function svc.webhook_matches(text[], text) is 'Whether one of the event types is this one, or matches it up to a trailing *.';
