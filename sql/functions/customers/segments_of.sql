-- The ids of the segments that a customer is a member of now, in the order of their bytes.
-- Raises nothing, locks nothing.
create or replace function svc.segments_of(environment_id integer, customer_id text)
returns json
language sql
stable
strict
set search_path = ''
begin atomic
  select coalesce(json_agg(m.segment_id order by m.segment_id collate "C"), '[]')
  from svc.segment_memberships as m
  where m.environment_id = segments_of.environment_id
    and m.customer_id = segments_of.customer_id
    and m.exited_at is null;
end;

comment on function svc.segments_of(integer, text) is 'The segments that a customer is a member of now.';
