-- Gives an organization another time zone, a name of the IANA database: {id, slug, timeZone}. Logged changes are counted anew for
-- the trends; active customers, operations and deliveries stay in the days in which they were counted.
-- Raises what iam.authorize and iam.record_audit raise, SV006 VALIDATION_ERROR (timeZone). Locks the organization's row, then those rows of
-- svc.trend_progress of its environments that are not being counted.
create or replace function svc_api.update_organization(token_hash bytea, organization_id text, request_id text, time_zone text)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  _actor constant iam.actor := iam.authorize(token_hash, organization_id, 'update_organization');
  _organization iam.organizations;
  _time_zone constant text := (
    select z.name from pg_timezone_names as z where lower(z.name) = lower(update_organization.time_zone) order by z.name limit 1
  );
  _id integer;
begin
  if _time_zone is null then
    raise exception using
      errcode = 'SV006',
      message = 'VALIDATION_ERROR',
      detail = jsonb_build_object(
        'message', '`timeZone` is not one that this service knows.',
        'field', 'timeZone',
        'fix', 'Write a name of the IANA time zone database, for example Europe/Berlin or UTC.'
      )::text;
  end if;

  select o.* into _organization
  from iam.organizations as o
  where o.organization_id = update_organization.organization_id
  -- Concurrent changes in the organization refer to its row from the audit log, and need not wait.
  for no key update;
  if _organization.time_zone <> _time_zone then
    update iam.organizations as o
    set time_zone = _time_zone
    where o.organization_id = update_organization.organization_id;

    for _id in
      select e.environment_id
      from svc.projects as j
      join svc.environments as e on e.project_id = j.project_id
      where j.organization_id = update_organization.organization_id
      order by e.environment_id
    loop
      -- A transaction that holds the row is counting, and checks the time zone at its end.
      perform from svc.trend_progress as p where p.environment_id = _id for update skip locked;
      if found then
        update svc.trend_progress as p set outdated_since = '0' where p.environment_id = _id;
      end if;
    end loop;

    perform iam.record_audit(
      _actor, update_organization.request_id, 'organization.time_zone_changed', null, null, update_organization.organization_id,
      jsonb_build_object('before', _organization.time_zone, 'after', _time_zone)
    );
  end if;
  return json_build_object('id', _organization.organization_id, 'slug', _organization.slug, 'timeZone', _time_zone);
end;
$$;

comment on function svc_api.update_organization(bytea, text, text, text) is 'Gives an organization another time zone.';
