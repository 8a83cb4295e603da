-- Removes delivery attempts older than `attempt_days`, and what deleted webhooks left behind: their attempts and deliveries, then the
-- webhooks themselves. At most `row_limit` rows of a kind at once, so that no call takes long; answers how many of all kinds. Call it again
-- until it answers 0.
-- A deleted webhook is kept for an hour. Until then, statements that began before the deletion may still add deliveries to it, and attempts
-- in progress are recorded, which locks a delivery and then the webhook, the opposite of the order here.
-- Raises nothing. Locks the rows it deletes, and a deleted webhook while it deletes its rows. Of these it skips rows that others hold: an
-- erasure deletes deliveries before their attempts, the opposite of the order here.
create or replace function svc_api.sweep_webhooks(attempt_days integer, row_limit integer)
returns integer
language plpgsql
volatile
security definer
set search_path = ''
-- Force index scans, whatever the statistics say.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
declare
  _attempts_until constant timestamptz := now() - sweep_webhooks.attempt_days * interval '24 hours';
  _old record;
  _deleted record;
  _locked boolean := false;
  _rows integer;
  _total integer := 0;
begin
  for _old in
    select o.environment_id, array_agg(o.ctid) as places
    from (
      select k.environment_id, k.ctid
      from svc.delivery_attempts as k
      where k.attempted_at < _attempts_until
      order by k.attempted_at
      limit sweep_webhooks.row_limit
    ) as o
    group by o.environment_id
  loop
    -- Check again: other rows may have taken these places.
    delete from svc.delivery_attempts as a
    where a.environment_id = _old.environment_id and a.ctid = any(_old.places) and a.attempted_at < _attempts_until;
    get diagnostics _rows = row_count;
    _total := _total + _rows;
  end loop;

  for _deleted in
    select w.environment_id, w.webhook_id
    from svc.webhooks as w
    where w.deleted_at < now() - interval '1 hour'
    order by w.deleted_at
    limit sweep_webhooks.row_limit
  loop
    perform 1
    from svc.webhooks as w
    where w.environment_id = _deleted.environment_id and w.webhook_id = _deleted.webhook_id
    for update skip locked;
    _locked := found;
    exit when _locked;
  end loop;
  if not _locked then
    return _total;
  end if;

  delete from svc.delivery_attempts as a
  where a.environment_id = _deleted.environment_id and a.ctid = any(array(
    select o.ctid
    from svc.delivery_attempts as o
    where o.environment_id = _deleted.environment_id and o.webhook_id = _deleted.webhook_id
    limit sweep_webhooks.row_limit
    for update skip locked
  ));
  get diagnostics _rows = row_count;
  _total := _total + _rows;

  delete from svc.delivery_bodies as b
  where b.environment_id = _deleted.environment_id and b.ctid = any(array(
    select o.ctid
    from svc.delivery_bodies as o
    where o.environment_id = _deleted.environment_id and o.webhook_id = _deleted.webhook_id
    limit sweep_webhooks.row_limit
    for update skip locked
  ));
  get diagnostics _rows = row_count;
  _total := _total + _rows;
  -- Bodies go before their deliveries, by which an erasure finds them: there are more, or another transaction holds some.
  if exists (
    select from svc.delivery_bodies as o where o.environment_id = _deleted.environment_id and o.webhook_id = _deleted.webhook_id
  ) then
    return _total;
  end if;

  delete from svc.deliveries as d
  where d.environment_id = _deleted.environment_id and d.ctid = any(array(
    select o.ctid
    from svc.deliveries as o
    where o.environment_id = _deleted.environment_id and o.webhook_id = _deleted.webhook_id
    limit sweep_webhooks.row_limit
    for update skip locked
  ));
  get diagnostics _rows = row_count;
  _total := _total + _rows;

  -- Nothing is left, and nothing can be added, because the row is locked.
  delete from svc.webhooks as w
  where w.environment_id = _deleted.environment_id and w.webhook_id = _deleted.webhook_id
    and not exists (
      select 1 from svc.deliveries as o where o.environment_id = _deleted.environment_id and o.webhook_id = _deleted.webhook_id
    )
    and not exists (
      select 1 from svc.delivery_attempts as o
      where o.environment_id = _deleted.environment_id and o.webhook_id = _deleted.webhook_id
    )
    and not exists (
      select 1 from svc.delivery_bodies as o where o.environment_id = _deleted.environment_id and o.webhook_id = _deleted.webhook_id
    );
  get diagnostics _rows = row_count;
  return _total + _rows;
end;
$$;

comment on function svc_api.sweep_webhooks(integer, integer) is
  'Removes old delivery attempts and what deleted webhooks left behind, a limited number of rows at once.';
