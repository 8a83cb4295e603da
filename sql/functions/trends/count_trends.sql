-- Counts a part of what is not yet counted in an environment: adds changes to svc.trend_counts, and counts accepted operations. It takes
-- about `row_limit` rows of each, so that no call takes long, except the first one for an environment with a history, which reads its
-- logs; answers how many rows it took. Call it again until it answers 0.
-- Raises nothing. Locks the environment's row of svc.trend_progress and what it deletes, and at its end the organization's row; waits only
-- for another change of the organization, and an environment's first call for another first one.
create or replace function svc_api.count_trends(environment_id integer, row_limit integer)
returns integer
language plpgsql
volatile
security definer
set search_path = ''
-- Force look-ups by key, whatever the statistics say.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
as $$
-- Parameters are always qualified; `on conflict` cannot qualify its columns.
#variable_conflict use_column
declare
  _id constant integer := count_trends.environment_id;
  -- Before the row is locked, because a change of the time zone does not see the lock of a later call.
  _zone constant text := svc.time_zone_of_environment(_id);
  _progress svc.trend_progress;
  _recounts boolean;
  _folded integer;
  _settled bigint;
  _through bigint;
  _operations bigint;
  _next xid8;
  _outdated boolean;
begin
  insert into svc.trend_progress (environment_id) values (_id) on conflict do nothing;
  select p.* into _progress from svc.trend_progress as p where p.environment_id = _id for update skip locked;
  if not found then
    return 0;
  end if;

  -- Transactions in progress may count their changes in the old way, or not at all, so all of them must end first. A transaction id that is
  -- not assigned yet comes from another cluster, through a restore.
  _next := pg_snapshot_xmax(pg_current_snapshot());
  if _progress.outdated_since = '0' or _progress.outdated_since > _next then
    update svc.trend_progress as p set outdated_since = _next where p.environment_id = _id;
    return 1;
  end if;
  _recounts := coalesce(_progress.outdated_since <= pg_snapshot_xmin(pg_current_snapshot()), false);
  if _recounts then
    perform svc.recount_trends(_id, _progress.counted_through = 0);
  else
    with taken as (
      delete from svc.trend_changes as c
      where c.environment_id = _id and c.ctid = any(array(
        select k.ctid
        from svc.trend_changes as k
        where k.environment_id = _id
        order by k.change_seq
        limit count_trends.row_limit
      ))
      returning c.measure, c.day, c.name, c.value, c.count, c.amount
    ),
    added as (
      insert into svc.trend_counts as t (environment_id, measure, day, name, value, count, amount)
      select h.environment_id, k.measure, k.day, k.name, k.value, sum(k.count), sum(k.amount)
      from svc.homes as h
      cross join taken as k
      where h.environment_id = _id
      group by h.environment_id, k.measure, k.day, k.name, k.value
      on conflict (environment_id, measure, day, name, value) do update
      set count = t.count + excluded.count, amount = t.amount + excluded.amount
    )
    select count(*) into _folded from taken;

    _settled := svc.accepted_through(_id) / 1024;
    -- Until the history is counted for the first time, counted_through stays 0, which shows that its deliveries are still to be counted.
    if _progress.counted_through = 0 and _progress.outdated_since is not null
      and exists (select from svc.deliveries as d where d.environment_id = _id)
    then
      _settled := 0;
    end if;
    select max(b.batch_seq), coalesce(sum(b.operations), 0)
    into _through, _operations
    from (
      select k.batch_seq, k.tracked + k.identified as operations, sum(k.tracked + k.identified) over (order by k.batch_seq) as so_far
      from (
        select i.batch_seq, i.tracked, i.identified
        from svc.ingest_batches as i
        where i.environment_id = _id and i.batch_seq > _progress.counted_through and i.batch_seq <= _settled
        order by i.batch_seq
        limit count_trends.row_limit
      ) as k
    ) as b
    where b.so_far - b.operations < count_trends.row_limit;
    if _through is not null then
      perform svc.count_accepted(_id, _progress.counted_through, _through);
      update svc.trend_progress as p set counted_through = _through where p.environment_id = _id;
    end if;
  end if;

  -- A change of the time zone skips environments that are being counted: wait for one in progress; a later one waits for this to end.
  perform from iam.organizations as o
  join svc.projects as j on j.organization_id = o.organization_id
  join svc.environments as e on e.project_id = j.project_id
  where e.environment_id = _id
  for share of o;
  -- Not within the update, where Citus takes only immutable functions.
  _outdated := svc.time_zone_of_environment(_id) <> _zone;
  if _recounts or _outdated then
    update svc.trend_progress as p set outdated_since = case when _outdated then '0'::xid8 end where p.environment_id = _id;
  end if;
  -- Where it is outdated, there is more to do.
  return case
    when _recounts or _outdated then 1
    else _folded + coalesce(_operations, 0) + case when _through is null then 0 else 1 end
  end;
end;
$$;

comment on function svc_api.count_trends(integer, integer) is
  'Counts a part of what is not yet counted for the trends of an environment.';
