-- An environment in numbers, all from one instant: customers, events, how many operations wait (pending) and how many of these are in the
-- future (ahead), the funnel of the lifecycle and the segments in the author's order (followed by those that still have customers but are
-- no longer in the active configuration), deliveries, emissions by type.
-- Raises what iam.authorize raises, SV004 PROJECT_NOT_FOUND. Locks nothing.
create or replace function svc_api.get_overview(token_hash bytea, organization_id text, project_slug text, environment_name text)
returns json
language plpgsql
stable
security definer
set search_path = ''
-- Plan for each environment: a plan that suits a large environment would read the rows of all others for a small one.
set plan_cache_mode = force_custom_plan
as $$
declare
  _environment record := svc.authorize_environment(token_hash, organization_id, project_slug, environment_name, 'get_overview');
  _id constant integer := _environment.environment_id;
  _lifecycle constant json := svc.lifecycle_counts(
    _id, svc.part_names(_environment.project_id, _environment.active_version, 'state')
  );
  _segments constant json := svc.segment_counts(
    _id, svc.part_names(_environment.project_id, _environment.active_version, 'segment')
  );
begin
  return json_build_object(
    'environment', get_overview.environment_name,
    'configVersion', 'v' || _environment.active_version,
    'customers', (select count(*) from svc.customers as c where c.environment_id = _id),
    'customersDue', (
      -- Each half has an index of its own.
      select count(*)
      from (
        select from svc.customers as c
        where c.environment_id = _id and c.next_due_at <= now() and c.set_aside_at is null and c.held_until is null
        union all
        select from svc.customers as c
        where c.environment_id = _id and c.next_due_at <= now() and c.set_aside_at is null and c.held_until is not null
      ) as due
    ),
    'customersSetAside', (
      select count(*) from svc.customers as c where c.environment_id = _id and c.set_aside_at is not null
    ),
    'events', json_build_object(
      'accepted', (select coalesce(sum(b.tracked), 0) from svc.ingest_batches as b where b.environment_id = _id)
        -- Includes events that are no longer stored.
        + coalesce((select r.batch_events_removed from svc.retention as r where r.environment_id = _id), 0),
      'pending', (select count(*) from svc.inbox as i where i.environment_id = _id),
      'ahead', (
        select count(*) from svc.inbox as i where i.environment_id = _id and i.not_before > now() and i.not_before < 'infinity'
      )
    ),
    'lifecycle', _lifecycle,
    'segments', _segments,
    'webhooks', (
      select json_build_object(
        'delivered', count(*) filter (where d.status = 'delivered'),
        'pending', count(*) filter (where d.status = 'pending'),
        'failed', count(*) filter (where d.status = 'failed')
      )
      from svc.deliveries as d
      join svc.webhooks as w on w.environment_id = _id and w.webhook_id = d.webhook_id
      where d.environment_id = _id and w.deleted_at is null
    ),
    'emissions', (
      select coalesce(json_object_agg(t.event_type, t.emissions order by t.event_type), '{}')
      from (
        select m.event_type, count(*) as emissions from svc.emissions as m where m.environment_id = _id group by m.event_type
      ) as t
    )
  );
end;
$$;

comment on function svc_api.get_overview(bytea, text, text, text) is 'An environment in numbers.';
