import type { Sql } from "postgres";

/**
 * Everything in the catalogs about our schemas, one line each, sorted: two databases are the same if these lines are equal. Left out are the
 * order of a table's columns, because a migration can only append; the ledgers of the migration tools; and the sequences of environments,
 * which belong to the data.
 */
export async function describeCatalog(sql: Sql): Promise<string[]> {
  const rows = await sql<{ line: string }[]>`
    with schemas as (
      select oid, nspname from pg_namespace
      where nspname !~ '^pg_' and nspname not in ('information_schema', 'graphile_migrate')
    ),
    relations as (
      select c.*, s.nspname from pg_class c join schemas s on s.oid = c.relnamespace
      where not (c.relkind = 'S' and c.relname ~ '^(batch|evaluation)_seq_[0-9]+$')
    ),
    functions as (
      select p.*, s.nspname, p.oid::regprocedure::text as signature from pg_proc p join schemas s on s.oid = p.pronamespace
    ),
    lines as (
      select format('schema %s acl %s comment %s', s.nspname, coalesce(n.nspacl, acldefault('n', n.nspowner)), obj_description(s.oid, 'pg_namespace')) as line
      from schemas s join pg_namespace n on n.oid = s.oid
      union all
      select format('relation %s.%s kind %s persistence %s rls %s options %s acl %s comment %s', nspname, relname, relkind,
        relpersistence, relrowsecurity, reloptions, relacl, obj_description(oid, 'pg_class'))
      from relations
      union all
      select format('column %s.%s.%s %s not null %s default %s identity %s generated %s collation %s storage %s acl %s comment %s',
        r.nspname, r.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, pg_get_expr(d.adbin, d.adrelid),
        a.attidentity, a.attgenerated, a.attcollation, concat(a.attstorage, a.attcompression), a.attacl, col_description(r.oid, a.attnum))
      from relations r join pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
      left join pg_attrdef d on d.adrelid = r.oid and d.adnum = a.attnum
      where r.relkind in ('r', 'p', 'v', 'm', 'f', 'c')
      union all
      select format('constraint %s.%s %s valid %s comment %s', n.nspname, c.conrelid::regclass, c.conname || ' ' ||
        pg_get_constraintdef(c.oid), c.convalidated, obj_description(c.oid, 'pg_constraint'))
      from pg_constraint c join schemas n on n.oid = c.connamespace
      union all
      select format('index %s valid %s', pg_get_indexdef(i.indexrelid), i.indisvalid)
      from pg_index i join relations r on r.oid = i.indexrelid
      union all
      select format('view %s.%s %s', nspname, relname, pg_get_viewdef(oid)) from relations where relkind in ('v', 'm')
      union all
      select format('sequence %s.%s %s', r.nspname, r.relname, to_jsonb(q) - 'seqrelid')
      from relations r join pg_sequence q on q.seqrelid = r.oid
      union all
      select format('function %s acl %s comment %s %s', signature, proacl, obj_description(oid, 'pg_proc'),
        case when prokind in ('f', 'p') then pg_get_functiondef(oid) end)
      from functions
      union all
      select format('trigger %s enabled %s comment %s', pg_get_triggerdef(t.oid), t.tgenabled, obj_description(t.oid, 'pg_trigger'))
      from pg_trigger t join relations r on r.oid = t.tgrelid where not t.tgisinternal
      union all
      select format('type %s.%s kind %s base %s labels %s acl %s comment %s', s.nspname, t.typname, t.typtype,
        format_type(t.typbasetype, t.typtypmod),
        array(select e.enumlabel from pg_enum e where e.enumtypid = t.oid order by e.enumsortorder), t.typacl,
        obj_description(t.oid, 'pg_type'))
      from pg_type t join schemas s on s.oid = t.typnamespace
      union all
      select format('policy %s.%s %s', schemaname, tablename, to_jsonb(p)) from pg_policies p
      union all
      select format('extension %s %s', extname, extversion) from pg_extension
      union all
      select format('default privileges %s %s %s', s.nspname, a.defaclobjtype, a.defaclacl)
      from pg_default_acl a left join schemas s on s.oid = a.defaclnamespace
    )
    select line from lines order by line`;
  return rows.map(({ line }) => line);
}
