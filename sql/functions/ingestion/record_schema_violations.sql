-- Counts how accepted operations violate a schema that is not strict. warnings are failures by position, as svc.call_schema_failures
-- gives them; operations that stored nothing are not counted. Rows are written in key order, so that calls cannot deadlock. Names come
-- from the sender, so the kinds of a version are limited to 1,000; all others count in one row, OTHER. The caller holds a lock of the
-- version, so that the number of kinds is exact.
-- Raises nothing. Locks the rows of these violations until the transaction ends.
create or replace function svc.record_schema_violations(
  environment_id integer, version integer, events text[], seqs bigint[], fresh boolean[], warnings jsonb, at timestamptz
)
returns void
language sql
volatile
set search_path = ''
as $$
  insert into svc.schema_violations as v
    (environment_id, version, event, code, path, operations, first_seen_at, last_seen_at, last_seq)
  with found as (
    select
      w.key::integer as ordinal,
      coalesce(record_schema_violations.events[w.key::integer + 1], '') as event,
      d.value ->> 'code' as code,
      regexp_replace(regexp_replace(d.value ->> 'path', '^events\[\d+\]\.', ''), '\[\d+\]', '[]', 'g') as path
    from jsonb_each(record_schema_violations.warnings) as w
    cross join lateral jsonb_array_elements(w.value -> 'diagnostics') as d
    where record_schema_violations.fresh[w.key::integer + 1]
  ),
  kind as (
    select k.event, k.code, k.path, v.path is not null or r.room >= row_number() over (partition by v.path is null order by k.n) as kept
    from (
      select f.event, f.code, f.path, min(f.ordinal) as n
      from found as f
      group by f.event, f.code, f.path
    ) as k
    left join svc.schema_violations as v
      on v.environment_id = record_schema_violations.environment_id
      and v.version = record_schema_violations.version
      and v.event = k.event and v.code = k.code and v.path = k.path
    cross join (
      select 1000 - count(*) as room
      from svc.schema_violations as s
      where s.environment_id = record_schema_violations.environment_id and s.version = record_schema_violations.version
    ) as r
  )
  select
    h.environment_id, record_schema_violations.version, o.event, o.code, o.path,
    count(distinct o.ordinal), record_schema_violations.at, record_schema_violations.at,
    max(record_schema_violations.seqs[o.ordinal + 1])
  from svc.homes as h
  cross join (
    select
      f.ordinal,
      case when k.kept then f.event else '' end as event,
      case when k.kept then f.code else 'OTHER' end as code,
      case when k.kept then f.path else '*' end as path
    from found as f
    join kind as k using (event, code, path)
  ) as o
  where h.environment_id = record_schema_violations.environment_id
  group by h.environment_id, o.event, o.code, o.path
  order by o.event collate "C", o.code collate "C", o.path collate "C"
  on conflict on constraint schema_violations_pkey do update
  set
    operations = v.operations + excluded.operations,
    last_seen_at = greatest(v.last_seen_at, excluded.last_seen_at),
    last_seq = greatest(v.last_seq, excluded.last_seq);
$$;

comment on function svc.record_schema_violations(integer, integer, text[], bigint[], boolean[], jsonb, timestamptz) is
  'Counts how accepted operations violate a schema that is not strict.';
