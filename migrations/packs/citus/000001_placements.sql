-- Citus: spreads what belongs to customers over the nodes of a cluster, by environment. For trials; see docs/scale.md.

-- Up Migration

create schema svc_citus;
comment on schema svc_citus is 'Which tables are spread over the nodes of a Citus cluster, and what would be in the way. Made by the pack citus.';

create table svc_citus.placements (
  relation text primary key,
  placement text not null,
  reason text not null,
  constraint placements_placement_known check (placement in ('distributed', 'local'))
);
comment on table svc_citus.placements is
  'Every table of svc that has environment_id: distributed by it, or local to the coordinator. What has no environment_id is local.';
comment on column svc_citus.placements.relation is 'Name of the table in the schema svc.';
comment on column svc_citus.placements.placement is 'distributed or local.';
comment on column svc_citus.placements.reason is 'Why.';

-- The only list of them: what follows reads it, and so do the tests.
insert into svc_citus.placements (relation, placement, reason) values
('customers', 'distributed', 'grows with customers'),
('events', 'distributed', 'grows with events'),
('trait_updates', 'distributed', 'grows with operations'),
('idempotency_keys', 'distributed', 'grows with events'),
('retired_keys', 'distributed', 'written by the statements that remove events'),
('inbox', 'distributed', 'written with events, read with customers'),
('schema_violations', 'distributed', 'of operations; the key begins with the environment and nothing else needs the table'),
('lifecycle_transitions', 'distributed', 'log of customers'),
('blocked_transitions', 'distributed', 'state of customers'),
('segment_memberships', 'distributed', 'state of customers'),
('journey_runs', 'distributed', 'state of customers'),
('health_scores', 'distributed', 'log of customers'),
('rule_executions', 'distributed', 'log of customers'),
('signals', 'distributed', 'state of customers'),
('superseded_logs', 'distributed', 'names the logs of customers that are to be removed'),
('environments', 'local', 'its name is unique in a project, not in an environment; small'),
('config_activations', 'local', 'refers to environments; small'),
('api_keys', 'local', 'is found by the key alone, before the environment is known; small'),
('retention', 'local', 'refers to environments; one row for each'),
('evaluation_slots', 'local', 'two rows for each environment, which workers lock'),
('suspect_environments', 'local', 'written by whoever unlocks jobs, of all environments at once; mostly empty'),
('ingest_batches', 'local', 'its trigger asks for evaluation, in the queue of the coordinator; one row for each call'),
('emission_batches', 'local', 'its trigger makes the deliveries; one row for each write-back'),
('emissions', 'local', 'read by that trigger and by the statement that takes deliveries, of all environments at once'),
('webhooks', 'local', 'refers to environments; leased by the statement that takes deliveries'),
('deliveries', 'local', 'refers to webhooks; a queue over all environments'),
('delivery_attempts', 'local', 'written by the statement that updates deliveries'),
('delivery_bodies', 'local', 'read by the statement that takes deliveries'),
('recomputes', 'local', 'a queue over all environments'),
('recompute_customers', 'local', 'removed with recomputes, over all environments; kept for 30 days'),
('quarantined_operations', 'local', 'few; released by a statement that joins the calls they came with'),
('quarantines', 'local', 'refers to environments; one row for each'),
('trend_progress', 'local', 'refers to environments; one row for each'),
('trend_changes', 'local', 'emptied every minute by who holds the row of trend_progress'),
('trend_counts', 'local', 'added to by the statement that empties trend_changes; grows with days');

-- What Citus would refuse, or could not take back, of the tables that are to be distributed: none of it is to be there.
-- Raises nothing, locks nothing.
create function svc_citus.obstacles()
returns table (relation text, obstacle text)
language sql
stable
set search_path = ''
as $$
  with chosen as (
    select p.relation, p.placement, c.oid, c.relkind, c.relpersistence, c.relispartition, c.relhassubclass, c.relrowsecurity,
      a.attnum, a.atttypid, a.attnotnull, a.attgenerated
    from svc_citus.placements as p
    left join pg_catalog.pg_class as c on c.relname = p.relation and c.relnamespace = to_regnamespace('svc')
    left join pg_catalog.pg_attribute as a on a.attrelid = c.oid and a.attname = 'environment_id' and not a.attisdropped
  ),
  spread as (
    select c.* from chosen as c where c.placement = 'distributed' and c.oid is not null
  )
  select c.relname::text, 'has environment_id and stands in no row of svc_citus.placements'
  from pg_catalog.pg_class as c
  join pg_catalog.pg_attribute as a on a.attrelid = c.oid and a.attname = 'environment_id' and not a.attisdropped
  where c.relnamespace = to_regnamespace('svc') and c.relkind in ('r', 'p', 'f')
    and not exists (select from svc_citus.placements as p where p.relation = c.relname)

  union all
  select c.relation, 'does not exist' from chosen as c where c.oid is null

  union all
  select s.relation, 'is not an ordinary table: partitioned, a partition, inherited from, temporary, unlogged, or with row level security'
  from spread as s
  where s.relkind <> 'r' or s.relpersistence <> 'p' or s.relispartition or s.relhassubclass or s.relrowsecurity

  union all
  select s.relation, 'its environment_id is not an integer that is never null'
  from spread as s
  where (s.atttypid = 'integer'::regtype and s.attnotnull and s.attgenerated = '') is not true

  union all
  select s.relation, format('its key %s does not begin with environment_id', k.relname)
  from spread as s
  join pg_catalog.pg_index as i on i.indrelid = s.oid and (i.indisunique or i.indisexclusion)
  join pg_catalog.pg_class as k on k.oid = i.indexrelid
  where i.indkey[0] is distinct from s.attnum

  union all
  select s.relation, format('it has the trigger %s', t.tgname)
  from spread as s
  join pg_catalog.pg_trigger as t on t.tgrelid = s.oid and not t.tgisinternal

  union all
  select s.relation, format('its foreign key %s leads out of the environment', f.conname)
  from spread as s
  join pg_catalog.pg_constraint as f on f.conrelid = s.oid and f.contype = 'f'
  left join spread as r on r.oid = f.confrelid
  where (f.conkey[1] = s.attnum and f.confkey[1] = r.attnum) is not true

  union all
  select s.relation, format('the foreign key %s of %s leads to it from outside of the environment', f.conname, f.conrelid::regclass)
  from spread as s
  join pg_catalog.pg_constraint as f on f.confrelid = s.oid and f.contype = 'f'
  where not exists (select from spread as r where r.oid = f.conrelid)

  union all
  -- Within an environment Citus would enforce it. But it makes nothing local again that has one, unless told to take along all that hangs
  -- together, which svc_citus.gather does not.
  select s.relation, format('its foreign key %s would be in the way of making the table local again', f.conname)
  from spread as s
  join pg_catalog.pg_constraint as f on f.conrelid = s.oid and f.contype = 'f'
  join spread as r on r.oid = f.confrelid and f.confkey[1] = r.attnum
  where f.conkey[1] = s.attnum

  union all
  select s.relation, format('its column %s is numbered and not a bigint', a.attname)
  from spread as s
  join pg_catalog.pg_attribute as a on a.attrelid = s.oid and a.attnum > 0 and not a.attisdropped
  left join pg_catalog.pg_attrdef as d on d.adrelid = s.oid and d.adnum = a.attnum
  where (a.attidentity <> '' or pg_catalog.pg_get_expr(d.adbin, d.adrelid) like 'nextval(%') and a.atttypid <> 'bigint'::regtype

  order by 1, 2
$$;
comment on function svc_citus.obstacles() is 'What is in the way of distributing the tables of svc_citus.placements; nothing where all is well.';

-- Distributes the tables, with their rows, by environment_id and side by side: what belongs to an environment lies on one node.
-- Identity columns become columns with a sequence: Citus makes no table local again that has one.
-- Raises 55000 where svc_citus.obstacles() has a row, and what Citus raises. Locks all of the tables against everybody.
create function svc_citus.distribute()
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  _first text;
  _table record;
  _column record;
begin
  perform svc_citus.lock_tables();
  for _table in select o.relation, o.obstacle from svc_citus.obstacles() as o limit 1 loop
    raise exception using
      errcode = '55000',
      message = format(
        'svc.%s cannot be distributed: %s. svc_citus.obstacles() in migrations/packs/citus says what must not be there', _table.relation,
        _table.obstacle
      );
  end loop;

  for _column in select n.* from svc_citus.numbered_columns() as n where n.is_identity order by n.relation loop
    execute format('alter table svc.%I alter column %I drop identity', _column.relation, _column.name);
    execute format('create sequence svc.%I as bigint owned by svc.%I.%I', _column.sequence, _column.relation, _column.name);
    execute format(
      'alter table svc.%I alter column %I set default nextval(%L)', _column.relation, _column.name, format('svc.%I', _column.sequence)
    );
    perform setval(format('svc.%I', _column.sequence)::regclass, _column.next, false);
  end loop;

  -- Tables one after the other in one transaction.
  perform set_config('citus.multi_shard_modify_mode', 'sequential', true);
  for _table in
    select p.relation from svc_citus.placements as p where p.placement = 'distributed' order by p.relation <> 'customers', p.relation
  loop
    perform create_distributed_table(
      format('svc.%I', _table.relation)::regclass, 'environment_id', colocate_with => coalesce(_first, 'none')
    );
    -- What the coordinator had of it; the nodes have it now.
    perform truncate_local_data_after_distributing_table(format('svc.%I', _table.relation)::regclass);
    _first := coalesce(_first, format('svc.%I', _table.relation));
  end loop;
end;
$$;
comment on function svc_citus.distribute() is 'Distributes the tables that svc_citus.placements names.';

-- Makes the tables local again, with their rows and their comments; columns with a sequence become identity columns. Citus makes each table
-- anew for that, with the views that read it: the next start of the service applies its functions, views and rights again.
-- Raises what Citus raises. Locks all of the tables against everybody.
create function svc_citus.gather()
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  _comments text[];
  _statement text;
  _table record;
  _column record;
begin
  perform svc_citus.lock_tables();
  select array_agg(
    case
      when d.objsubid = 0 then format('comment on table svc.%I is %L', p.relation, d.description)
      else format('comment on column svc.%I.%I is %L', p.relation, a.attname, d.description)
    end
  ) into _comments
  from svc_citus.placements as p
  join pg_catalog.pg_description as d
    on d.classoid = 'pg_class'::regclass and d.objoid = to_regclass(format('svc.%I', p.relation))
  left join pg_catalog.pg_attribute as a on a.attrelid = d.objoid and a.attnum = d.objsubid
  where p.placement = 'distributed';

  perform set_config('citus.multi_shard_modify_mode', 'sequential', true);
  for _table in
    select p.relation from svc_citus.placements as p where p.placement = 'distributed' order by p.relation = 'customers', p.relation
  loop
    perform undistribute_table(format('svc.%I', _table.relation)::regclass);
  end loop;

  for _column in select n.* from svc_citus.numbered_columns() as n where not n.is_identity order by n.relation loop
    execute format('alter table svc.%I alter column %I drop default', _column.relation, _column.name);
    execute format('drop sequence svc.%I', _column.sequence);
    execute format('alter table svc.%I alter column %I add generated always as identity', _column.relation, _column.name);
    perform setval(format('svc.%I', _column.sequence)::regclass, _column.next, false);
  end loop;

  foreach _statement in array coalesce(_comments, '{}') loop
    execute _statement;
  end loop;
  delete from svc_migrate.applied_code;
end;
$$;
comment on function svc_citus.gather() is 'Makes the tables that svc_citus.placements names local again.';

-- Columns of the distributed tables that number rows: by identity, or as svc_citus.distribute left them. The sequence is named as PostgreSQL
-- names that of an identity column.
-- Raises nothing, locks nothing.
create function svc_citus.numbered_columns()
returns table (relation text, name text, is_identity boolean, sequence text, next bigint)
language sql
stable
set search_path = ''
as $$
  select
    p.relation, a.attname::text, a.attidentity <> '', format('%s_%s_seq', p.relation, a.attname),
    coalesce(pg_catalog.pg_sequence_last_value(s.oid) + 1, 1)
  from svc_citus.placements as p
  join pg_catalog.pg_attribute as a
    on a.attrelid = to_regclass(format('svc.%I', p.relation)) and a.attnum > 0 and not a.attisdropped
  join pg_catalog.pg_class as s
    on s.oid = to_regclass(pg_catalog.pg_get_serial_sequence(format('svc.%I', p.relation), a.attname))
  where p.placement = 'distributed'
$$;
comment on function svc_citus.numbered_columns() is 'Columns of the distributed tables that number rows.';

-- Nobody else reads or writes the distributed tables until the end of the transaction.
-- Raises 55P03 where somebody has one of them in hand for longer than 10 seconds.
create function svc_citus.lock_tables()
returns void
language plpgsql
volatile
set search_path = ''
set lock_timeout = '10s'
as $$
declare
  _table record;
begin
  for _table in
    select p.relation from svc_citus.placements as p where p.placement = 'distributed' order by p.relation
  loop
    if to_regclass(format('svc.%I', _table.relation)) is not null then
      execute format('lock table svc.%I in access exclusive mode', _table.relation);
    end if;
  end loop;
end;
$$;
comment on function svc_citus.lock_tables() is 'Locks the distributed tables against everybody.';

-- Why nothing may be distributed here, and what to do, in a line; null where it may. `available`: the server has the extension; `created`:
-- so has this database; `preloaded`: the setting shared_preload_libraries, null where the user may not see it; `trial`: the setting
-- svc.citus_trial of the database. The service does not run on distributed tables yet, and some of its statements would remove rows of
-- other environments: hence the last.
-- Raises nothing, locks nothing.
create function svc_citus.refusal(available boolean, created boolean, preloaded text, trial text)
returns text
language sql
stable
set search_path = ''
as $$
  select case
    when not refusal.available then
      'this server has no extension citus: install Citus on every node, preload it (shared_preload_libraries = ''citus''), restart, execute '
      '`create extension citus` in this database as a superuser, then repeat'
    when refusal.preloaded !~ '\mcitus\M' then
      'this server does not preload citus: put it first in shared_preload_libraries, restart, execute `create extension citus` in this '
      'database as a superuser, then repeat'
    when not refusal.created then
      'the extension citus is not created in this database: execute `create extension citus` in it as a superuser, then repeat'
    when refusal.trial is distinct from 'on' then
      format(
        'the pack citus is for trials on a copy: read docs/scale.md; in a database that may be lost, execute '
        '`alter database %I set svc.citus_trial = ''on''`, then repeat',
        current_database()
      )
  end
$$;
comment on function svc_citus.refusal(boolean, boolean, text, text) is 'Why nothing may be distributed here; null where it may.';

revoke execute on all routines in schema svc_citus from public;

-- Down Migration

drop function
  svc_citus.refusal(boolean, boolean, text, text), svc_citus.distribute(), svc_citus.gather(), svc_citus.obstacles(),
  svc_citus.numbered_columns(), svc_citus.lock_tables();
drop table svc_citus.placements;
drop schema svc_citus;
