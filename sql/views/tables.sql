create or replace view svc_inspect.tables as
select
  s.schemaname::text as schema, s.relname::text as name, greatest(c.reltuples, 0)::bigint as rows_estimated, s.n_dead_tup as rows_dead,
  pg_catalog.pg_total_relation_size(s.relid) as bytes, pg_catalog.pg_indexes_size(s.relid) as index_bytes,
  greatest(s.last_vacuum, s.last_autovacuum) as vacuumed_at, greatest(s.last_analyze, s.last_autoanalyze) as analyzed_at
from pg_catalog.pg_stat_user_tables as s
join pg_catalog.pg_class as c on c.oid = s.relid
where s.schemaname in ('iam', 'svc', 'graphile_worker');

comment on view svc_inspect.tables is 'The service''s tables: their size and how vacuum keeps up.';
comment on column svc_inspect.tables.schema is 'iam, svc or graphile_worker.';
comment on column svc_inspect.tables.name is 'Name of the table.';
comment on column svc_inspect.tables.rows_estimated is 'Estimated number of rows.';
comment on column svc_inspect.tables.rows_dead is 'Estimated number of rows that vacuum has yet to remove.';
comment on column svc_inspect.tables.bytes is 'Size on disk, with indexes and TOAST.';
comment on column svc_inspect.tables.index_bytes is 'Size of the indexes, part of bytes.';
comment on column svc_inspect.tables.vacuumed_at is 'When it was last vacuumed; null if never.';
comment on column svc_inspect.tables.analyzed_at is 'When it was last analyzed; null if never.';
