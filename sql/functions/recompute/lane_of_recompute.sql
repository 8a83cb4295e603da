-- The queue of a kind of job, and at once the first key of the advisory lock under which one of its jobs runs in an environment: previews
-- write nothing and are not kept waiting by recomputes.
-- Raises nothing, locks nothing.
create or replace function svc.lane_of_recompute(kind text)
returns integer
language sql
immutable
parallel safe
set search_path = ''
return case lane_of_recompute.kind when 'preview' then 7502 else 7501 end;

comment on function svc.lane_of_recompute(text) is 'The queue of a kind of recompute, as the first key of its advisory lock.';
