-- Distributes the tables, where the database is one of Citus.

-- Up Migration

do $$
declare
  _extension text := (select e.extversion from pg_catalog.pg_extension as e where e.extname = 'citus');
  _nodes bigint := 0;
  _refusal text;
begin
  if _extension is not null then
    select count(*) into _nodes from pg_catalog.pg_dist_node as n where n.shouldhaveshards and n.isactive;
  end if;
  _refusal := svc_citus.refusal(
    exists (select from pg_catalog.pg_available_extensions where name = 'citus'),
    _extension is not null,
    -- The view has no row of it for who may not see it.
    (select s.setting from pg_catalog.pg_settings as s where s.name = 'shared_preload_libraries'),
    split_part(_extension, '.', 1)::integer,
    current_setting('server_version_num')::integer / 10000,
    _nodes
  );
  if _refusal is not null then
    raise exception using errcode = '55000', message = _refusal;
  end if;
  perform svc_citus.distribute();
end
$$;

-- Down Migration

select svc_citus.gather();
