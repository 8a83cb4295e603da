-- Counts changes for the trends: [{measure, at (ms), name, value, count, amount}], in the form of svc.logged_changes; an element may
-- combine changes within a second, and amount may be omitted.
-- Raises nothing, locks nothing.
create or replace function svc.count_changes(environment_id integer, changes json)
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  -- On a cluster, writes on another node do not assign this transaction an id here, by which svc_api.count_trends waits for it.
  _xact constant xid8 := pg_current_xact_id();
  _zone constant text := svc.time_zone_of_environment(count_changes.environment_id);
begin
  insert into svc.trend_changes (environment_id, measure, day, name, value, count, amount)
  select
    h.environment_id, c.measure, ((timestamptz 'epoch' + c.at * interval '1 millisecond') at time zone _zone)::date as day,
    c.name, c.value, sum(c.count), coalesce(sum(c.amount), 0)
  from svc.homes as h
  cross join json_to_recordset(count_changes.changes) as c (
    measure text, at bigint, name text, value text, count integer, amount numeric
  )
  where h.environment_id = count_changes.environment_id
  group by h.environment_id, c.measure, day, c.name, c.value
  having sum(c.count) <> 0 or sum(c.amount) <> 0;
end;
$$;

comment on function svc.count_changes(integer, json) is 'Counts changes for the trends.';
