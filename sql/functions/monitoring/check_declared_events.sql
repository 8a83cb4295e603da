-- EVENTS_NEVER_RECEIVED if the active version declares events of which none is stored, with up to 50 of their names; else null. If no
-- event was sent at all, other checks report that.
-- Raises nothing, locks nothing.
create or replace function svc.check_declared_events(environment_id integer, project_id integer, active_version integer)
returns json
language plpgsql
stable
set search_path = ''
as $$
declare
  _declared constant text[] := array(
    select c.event
    from svc.payload_checks as c
    where c.project_id = check_declared_events.project_id and c.version = check_declared_events.active_version and c.event <> ''
  );
  _days constant integer := svc.retention_days(check_declared_events.environment_id);
begin
  return (
    select svc.finding(
      'EVENTS_NEVER_RECEIVED',
      'warning',
      svc.count_text(count(*), 'event that the active version declares was', 'events that the active version declares were')
        || case
          when _days is null then ' never received.'
          else format(' not received in the last %s, as long as the plan keeps events.', svc.count_text(_days, 'day', 'days'))
        end,
      'Send it when it happens, or remove it from the model. A misspelt name is listed among the undeclared events.',
      count(*),
      json_build_object('events', json_agg(d.event order by d.event) filter (where d.turn <= 50))
    )
    from (
      select c.event, row_number() over (order by c.event) as turn
      from unnest(_declared) as c (event)
      left join lateral (
        select true as received
        from svc.events as e
        where e.environment_id = check_declared_events.environment_id and e.event <> '' and e.event = c.event
        limit 1
      ) as r on true
      where r.received is null
    ) as d
    having count(*) > 0 and exists (
      select 1 from svc.ingest_batches as b where b.environment_id = check_declared_events.environment_id
    )
  );
end;
$$;

comment on function svc.check_declared_events(integer, integer, integer) is 'Diagnostics: declared events that were never received.';
