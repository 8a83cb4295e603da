-- Whether an emission's type is one that a webhook subscribes to: the pattern itself, or anything after its beginning up to a trailing *.
-- Inlined by the planner, so it costs no call.
-- Raises nothing, locks nothing.
create or replace function svc.matches_type(event_type text, pattern text)
returns boolean
language sql
immutable
parallel safe
return matches_type.pattern = matches_type.event_type
  or (right(matches_type.pattern, 1) = '*' and starts_with(matches_type.event_type, left(matches_type.pattern, -1)));

comment on function svc.matches_type(text, text) is 'Whether the type of an emission is one that a webhook subscribes to.';
