-- Citus: spreads what environments own over the nodes of a cluster; see docs/scale.md.

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
('homes', 'distributed', 'the row by which a statement finds the environment''s node; the other tables lie beside it'),
('ingest_batches', 'distributed', 'written with events'),
('events', 'distributed', 'grows with events'),
('trait_updates', 'distributed', 'grows with operations'),
('idempotency_keys', 'distributed', 'grows with events'),
('retired_keys', 'distributed', 'written by the statements that remove events'),
('retention', 'distributed', 'counts what was removed, in its transaction'),
('inbox', 'distributed', 'written with events, read with customers'),
('schema_violations', 'distributed', 'written with events'),
('quarantined_operations', 'distributed', 'written with ingest batches, released into events'),
('quarantines', 'distributed', 'counts what is in quarantine, in its transaction'),
('customers', 'distributed', 'grows with customers'),
('lifecycle_transitions', 'distributed', 'log of customers'),
('blocked_transitions', 'distributed', 'state of customers'),
('segment_memberships', 'distributed', 'state of customers'),
('journey_runs', 'distributed', 'state of customers'),
('health_scores', 'distributed', 'log of customers'),
('rule_executions', 'distributed', 'log of customers'),
('signals', 'distributed', 'state of customers'),
('superseded_logs', 'distributed', 'names the logs of customers that are to be removed'),
('emissions', 'distributed', 'written with what was evaluated'),
('emission_batches', 'distributed', 'written with emissions'),
('webhooks', 'distributed', 'read when emissions become deliveries, changed with what came of them'),
('deliveries', 'distributed', 'written with emissions'),
('delivery_attempts', 'distributed', 'written with what changes deliveries'),
('delivery_bodies', 'distributed', 'written with deliveries'),
('recomputes', 'distributed', 'tells how far a recompute has come, in the transaction of each customer'),
('recompute_customers', 'distributed', 'written with customers that were replayed'),
('trend_counts', 'distributed', 'grows with days'),
('trend_changes', 'distributed', 'written with what was evaluated'),
('trend_progress', 'distributed', 'tells up to where trends were counted, in the transaction that does'),
('environments', 'local', 'its name is unique in a project, not in an environment; small'),
('config_activations', 'local', 'refers to environments; small'),
('api_keys', 'local', 'is found by the key alone, before the environment is known; small'),
('evaluation_slots', 'local', 'two rows for each environment, which workers lock and never change'),
('usage_checks', 'local', 'compares the nodes with what keys have used; small'),
('suspect_environments', 'local', 'written by whoever unlocks jobs, of all environments at once; mostly empty');

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
    select p.relation from svc_citus.placements as p where p.placement = 'distributed'
    order by p.relation <> 'homes', p.relation <> 'webhooks', p.relation
  loop
    perform create_distributed_table(
      format('svc.%I', _table.relation)::regclass, 'environment_id', colocate_with => coalesce(_first, 'none')
    );
    _first := coalesce(_first, format('svc.%I', _table.relation));
  end loop;
  -- What the coordinator had of them; the nodes have it now.
  for _table in
    select p.relation from svc_citus.placements as p where p.placement = 'distributed' order by p.relation
  loop
    perform truncate_local_data_after_distributing_table(format('svc.%I', _table.relation)::regclass);
  end loop;
  perform svc_citus.adapt_functions();
  perform svc_citus.admit_readers();
end;
$$;
comment on function svc_citus.distribute() is 'Distributes the tables that svc_citus.placements names.';

-- Fits the service's functions to distributed tables: to be called whenever they were applied anew. Those that change nothing are copied to
-- the nodes, where statements call them. None keeps a plan that leaves open which environment it is for: Citus finds the node by that.
-- Raises what Citus raises. Locks nothing that others use.
create function svc_citus.adapt_functions()
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  _function record;
begin
  for _function in
    with recursive bound (oid) as (
      -- To tables, by a row type or a parsed body: the nodes need not have those.
      select d.objid
      from pg_catalog.pg_depend as d
      left join pg_catalog.pg_type as t on d.refclassid = 'pg_catalog.pg_type'::regclass and t.oid = d.refobjid
      where d.classid = 'pg_catalog.pg_proc'::regclass and (d.refclassid = 'pg_catalog.pg_class'::regclass or t.typtype = 'c')
      union
      select d.objid
      from bound as b
      join pg_catalog.pg_depend as d on d.refclassid = 'pg_catalog.pg_proc'::regclass and d.refobjid = b.oid
      where d.classid = 'pg_catalog.pg_proc'::regclass
    )
    select
      p.oid::regprocedure as name, p.proconfig::text ~ 'plan_cache_mode' as forced,
      p.provolatile <> 'v' and p.pronamespace = 'svc'::regnamespace and p.oid not in (select b.oid from bound as b) as copied
    from pg_catalog.pg_proc as p
    where p.pronamespace in ('svc'::regnamespace, 'svc_api'::regnamespace) and p.prokind in ('f', 'a')
    order by 1
  loop
    if _function.forced then
      execute format('alter function %s reset plan_cache_mode', _function.name);
    end if;
    if _function.copied and not exists (
      select from pg_catalog.pg_dist_object as d where d.classid = 'pg_catalog.pg_proc'::regclass and d.objid = _function.name
    ) then
      perform create_distributed_function(_function.name);
    end if;
  end loop;
end;
$$;
comment on function svc_citus.adapt_functions() is 'Fits the service''s functions to distributed tables.';

-- Lets svc_reader read the columns that views read: Citus asks the nodes for them as the role that asks, and not as the owner of the views.
-- On the coordinator the role still may not look into the schema, so that all it can name is the views. To be called whenever views were
-- applied anew, and when a node came. Where there is no such role, nobody reads but the user who migrates.
-- Raises nothing. Locks nothing that others use.
create function svc_citus.admit_readers()
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  _table record;
begin
  if not exists (select from pg_catalog.pg_roles as r where r.rolname = 'svc_reader') then
    return;
  end if;
  for _table in select r.relation, r.columns from svc_citus.read_columns() as r loop
    execute format('grant select (%s) on svc.%I to svc_reader', _table.columns, _table.relation);
  end loop;
  grant usage on schema svc to svc_reader;
  perform set_config('citus.enable_ddl_propagation', 'off', true);
  revoke usage on schema svc from svc_reader;
  perform set_config('citus.enable_ddl_propagation', 'on', true);
end;
$$;
comment on function svc_citus.admit_readers() is 'Lets svc_reader read the columns of distributed tables that views read.';

-- The columns of distributed tables that views read, by table, as lists of names.
-- Raises nothing, locks nothing.
create function svc_citus.read_columns()
returns table (relation text, columns text)
language sql
stable
set search_path = ''
as $$
  select p.relation, string_agg(distinct quote_ident(a.attname), ', ')
  from svc_citus.placements as p
  join pg_catalog.pg_depend as d
    on d.classid = 'pg_catalog.pg_rewrite'::regclass and d.refclassid = 'pg_catalog.pg_class'::regclass
    and d.refobjid = to_regclass(format('svc.%I', p.relation))
  join pg_catalog.pg_attribute as a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid and a.attnum > 0
  where p.placement = 'distributed'
  group by p.relation
  order by p.relation
$$;
comment on function svc_citus.read_columns() is 'The columns of distributed tables that views read.';

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
  _constraint record;
begin
  perform svc_citus.lock_tables();
  perform set_config('citus.multi_shard_modify_mode', 'sequential', true);
  if exists (select from pg_catalog.pg_roles as r where r.rolname = 'svc_reader') then
    for _table in select r.relation, r.columns from svc_citus.read_columns() as r loop
      execute format('revoke select (%s) on svc.%I from svc_reader', _table.columns, _table.relation);
    end loop;
    revoke usage on schema svc from svc_reader;
  end if;
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

  for _table in
    select p.relation from svc_citus.placements as p where p.placement = 'distributed' order by p.relation = 'homes', p.relation
  loop
    -- Not those that foreign keys took along with another.
    if exists (
      select from pg_catalog.pg_dist_partition as d where d.logicalrelid = format('svc.%I', _table.relation)::regclass
    ) then
      perform undistribute_table(format('svc.%I', _table.relation)::regclass, cascade_via_foreign_keys => true);
    end if;
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
  -- They are named after the table, which had another name while Citus made it.
  for _constraint in
    select p.relation, n.conname as name, format('%s_%s_not_null', p.relation, a.attname) as original
    from svc_citus.placements as p
    join pg_catalog.pg_constraint as n on n.conrelid = to_regclass(format('svc.%I', p.relation)) and n.contype = 'n'
    join pg_catalog.pg_attribute as a on a.attrelid = n.conrelid and a.attnum = n.conkey[1]
    where p.placement = 'distributed' and n.conname <> format('%s_%s_not_null', p.relation, a.attname)
  loop
    execute format('alter table svc.%I rename constraint %I to %I', _constraint.relation, _constraint.name, _constraint.original);
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
-- so has this database; `preloaded`: the setting shared_preload_libraries, null where the user may not see it; `citus` and `postgres`: the
-- versions' numbers, since Citus sends SQL functions' statements to a node only where the server plans them for each call; `nodes`: how many
-- there are to take shards.
-- Raises nothing, locks nothing.
create function svc_citus.refusal(available boolean, created boolean, preloaded text, citus integer, postgres integer, nodes bigint)
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
    when refusal.postgres < 18 or refusal.citus < 14 then
      format(
        'Citus 14 on PostgreSQL 18 is the oldest that the service runs on, and this is Citus %s on PostgreSQL %s: upgrade all nodes, then '
        'repeat', refusal.citus, refusal.postgres
      )
    when refusal.nodes = 0 then
      'the cluster has no node to take tables: add each with `select citus_add_node(host, port)`, then repeat'
  end
$$;
comment on function svc_citus.refusal(boolean, boolean, text, integer, integer, bigint) is
  'Why nothing may be distributed here; null where it may.';

revoke execute on all routines in schema svc_citus from public;

-- Down Migration

drop function
  svc_citus.refusal(boolean, boolean, text, integer, integer, bigint), svc_citus.distribute(), svc_citus.gather(),
  svc_citus.adapt_functions(), svc_citus.admit_readers(), svc_citus.read_columns(), svc_citus.obstacles(), svc_citus.numbered_columns(),
  svc_citus.lock_tables();
drop table svc_citus.placements;
drop schema svc_citus;
