-- A read-only role, and daily figures for charts: events, lifecycle, segments, health, webhooks.

-- Up Migration

-- Roles belong to the whole server: another database of it may have made this one, or be making it now.
do $$
begin
  if not exists (select from pg_catalog.pg_roles where rolname = 'svc_reporting') then
    begin
      create role svc_reporting nologin;
    exception
      when duplicate_object or unique_violation then null;
    end;
  end if;
  if not pg_has_role('svc_reporting', 'svc_reader', 'member') then
    grant svc_reader to svc_reporting;
  end if;
end
$$;

create schema svc_reporting;
comment on schema svc_reporting is 'Daily figures for charts, as of the last svc_reporting.refresh(). Made by the pack reporting.';

-- All of it is read from svc_inspect: the views keep what they have, so no migration of the service finds these in its way.

create materialized view svc_reporting.events_by_day as
select organization, project, environment, day, event, sum(events)::bigint as events, count(*) as customers
from (
  -- By customer first, which needs no order, where count(distinct) would sort all events.
  select organization, project, environment, (occurred_at at time zone 'UTC')::date as day, event, customer_id, count(*) as events
  from svc_inspect.events
  group by organization, project, environment, day, event, customer_id
) as of_customers
group by organization, project, environment, day, event;
create unique index events_by_day_key on svc_reporting.events_by_day (organization, project, environment, day, event);
comment on materialized view svc_reporting.events_by_day is 'Product events that are kept, by the day on which they happened.';
comment on column svc_reporting.events_by_day.organization is 'Slug of the organization.';
comment on column svc_reporting.events_by_day.project is 'Slug of the project.';
comment on column svc_reporting.events_by_day.environment is 'test or live.';
comment on column svc_reporting.events_by_day.day is 'The day, in UTC.';
comment on column svc_reporting.events_by_day.event is 'Name of the event.';
comment on column svc_reporting.events_by_day.events is 'How many there were.';
comment on column svc_reporting.events_by_day.customers is 'How many customers they were of.';

create materialized view svc_reporting.transitions_by_day as
select
  organization, project, environment, (transitioned_at at time zone 'UTC')::date as day, coalesce(from_state, '') as from_state,
  to_state, count(*) as transitions
from svc_inspect.lifecycle_transitions
group by organization, project, environment, day, coalesce(from_state, ''), to_state;
create unique index transitions_by_day_key
on svc_reporting.transitions_by_day (organization, project, environment, day, from_state, to_state);
comment on materialized view svc_reporting.transitions_by_day is 'Changes of lifecycle, by the day from which they hold.';
comment on column svc_reporting.transitions_by_day.organization is 'Slug of the organization.';
comment on column svc_reporting.transitions_by_day.project is 'Slug of the project.';
comment on column svc_reporting.transitions_by_day.environment is 'test or live.';
comment on column svc_reporting.transitions_by_day.day is 'The day, in UTC.';
comment on column svc_reporting.transitions_by_day.from_state is 'The state before; empty for the first one of a customer.';
comment on column svc_reporting.transitions_by_day.to_state is 'The state after.';
comment on column svc_reporting.transitions_by_day.transitions is 'How many there were.';

create materialized view svc_reporting.deliveries_by_day as
select
  organization, project, environment, (coalesce(finished_at, emission_created_at) at time zone 'UTC')::date as day, webhook_id, status,
  count(*) as deliveries, sum(attempts) as attempts
from svc_inspect.deliveries
group by organization, project, environment, day, webhook_id, status;
create unique index deliveries_by_day_key
on svc_reporting.deliveries_by_day (organization, project, environment, day, webhook_id, status);
comment on materialized view svc_reporting.deliveries_by_day is 'What became of deliveries to webhooks.';
comment on column svc_reporting.deliveries_by_day.organization is 'Slug of the organization.';
comment on column svc_reporting.deliveries_by_day.project is 'Slug of the project.';
comment on column svc_reporting.deliveries_by_day.environment is 'test or live.';
comment on column svc_reporting.deliveries_by_day.day is
  'The day, in UTC, on which they were delivered or given up; of those that are pending, on which they were made.';
comment on column svc_reporting.deliveries_by_day.webhook_id is 'The webhook; svc_inspect.webhooks has its address.';
comment on column svc_reporting.deliveries_by_day.status is 'pending, delivered or failed.';
comment on column svc_reporting.deliveries_by_day.deliveries is 'How many there are.';
comment on column svc_reporting.deliveries_by_day.attempts is 'Attempts that were made for them.';

create table svc_reporting.customers_by_day (
  organization text not null,
  project text not null,
  environment text not null,
  day date not null,
  measure text not null,
  value text not null,
  customers bigint not null,
  primary key (organization, project, environment, day, measure, value),
  constraint customers_by_day_measure_known check (measure in ('lifecycle', 'segment', 'health_band'))
);
comment on table svc_reporting.customers_by_day is
  'Where customers stood on each day on which svc_reporting.refresh() ran, at its last run of the day.';
comment on column svc_reporting.customers_by_day.organization is 'Slug of the organization.';
comment on column svc_reporting.customers_by_day.project is 'Slug of the project.';
comment on column svc_reporting.customers_by_day.environment is 'test or live.';
comment on column svc_reporting.customers_by_day.day is 'The day, in UTC.';
comment on column svc_reporting.customers_by_day.measure is 'What is counted by: lifecycle, segment or health_band.';
comment on column svc_reporting.customers_by_day.value is 'The state, segment or band.';
comment on column svc_reporting.customers_by_day.customers is 'How many customers were in it; there is no row where none was.';

create table svc_reporting.last_refresh (
  single boolean primary key default true,
  refreshed_at timestamptz not null,
  took interval not null,
  constraint last_refresh_single check (single)
);
comment on table svc_reporting.last_refresh is 'How old the figures are; no row before the first refresh.';
comment on column svc_reporting.last_refresh.single is 'Keeps the table to one row.';
comment on column svc_reporting.last_refresh.refreshed_at is 'When the last refresh began: the figures are of that instant.';
comment on column svc_reporting.last_refresh.took is 'How long it took.';

-- Brings all figures to the present; those of earlier days in customers_by_day stay. Who reads meanwhile sees the figures of before.
-- Locks the materialized views and tables of svc_reporting against another refresh, which waits; nothing of the service. Raises nothing.
create function svc_reporting.refresh()
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  _begun timestamptz := clock_timestamp();
  _day date := (clock_timestamp() at time zone 'UTC')::date;
begin
  lock table svc_reporting.last_refresh in share row exclusive mode;
  refresh materialized view concurrently svc_reporting.events_by_day;
  refresh materialized view concurrently svc_reporting.transitions_by_day;
  refresh materialized view concurrently svc_reporting.deliveries_by_day;

  delete from svc_reporting.customers_by_day where day = _day;
  insert into svc_reporting.customers_by_day (organization, project, environment, day, measure, value, customers)
  select organization, project, environment, _day, 'lifecycle', lifecycle, count(*)
  from svc_inspect.customers
  where lifecycle is not null
  group by organization, project, environment, lifecycle
  union all
  select organization, project, environment, _day, 'health_band', health_band, count(*)
  from svc_inspect.customers
  where health_band is not null
  group by organization, project, environment, health_band
  union all
  select organization, project, environment, _day, 'segment', segment, count(*)
  from svc_inspect.segment_members
  group by organization, project, environment, segment;

  insert into svc_reporting.last_refresh (refreshed_at, took)
  values (_begun, clock_timestamp() - _begun)
  on conflict (single) do update set refreshed_at = excluded.refreshed_at, took = excluded.took;
end;
$$;
comment on function svc_reporting.refresh() is 'Brings the figures of svc_reporting to the present.';
-- By a role's default, everybody may call a function. Who reports only reads.
revoke execute on function svc_reporting.refresh() from public;

grant usage on schema svc_reporting to svc_reporting;
grant select on all tables in schema svc_reporting to svc_reporting;

-- Down Migration

-- Not by cascade: what somebody built on these is not ours to drop, and is named where it is in the way.
drop function svc_reporting.refresh();
drop table svc_reporting.last_refresh, svc_reporting.customers_by_day;
drop materialized view svc_reporting.deliveries_by_day, svc_reporting.transitions_by_day, svc_reporting.events_by_day;
drop schema svc_reporting;

do $$
begin
  drop role svc_reporting;
exception
  -- Another database of the server has the pack, too, or somebody has granted the role something else.
  when dependent_objects_still_exist then
    raise notice 'the role svc_reporting stays: it is still used';
  -- Somebody else made it, for a user who may make no roles.
  when insufficient_privilege then
    raise notice 'the role svc_reporting stays: another user made it';
  when undefined_object then null;
end
$$;
