import type { Sql } from "postgres";

/** A function that processes call. */
export interface Callable {
  signature: string;
  /** With names, as callers can pass them. */
  arguments: string;
  result: string;
  /** The roles that can call it, sorted. */
  roles: string[];
}

/** The functions of svc_api, on which processes of the database's version rely. */
export function callablesOf(sql: Sql): Promise<Callable[]> {
  return sql<Callable[]>`
    select
      p.oid::regprocedure::text as signature,
      pg_get_function_arguments(p.oid) as arguments,
      pg_get_function_result(p.oid) as result,
      array(
        select r.rolname::text from pg_roles as r
        where r.rolname in ('svc_http', 'svc_worker', 'svc_reader') and has_function_privilege(r.oid, p.oid, 'execute')
        order by 1
      ) as roles
    from pg_proc as p
    where p.pronamespace = 'svc_api'::regnamespace
    order by 1`;
}

/** The columns of the views of svc_inspect by view, in order. */
export async function viewsOf(sql: Sql): Promise<Map<string, string[]>> {
  const rows = await sql<{ view: string; columns: string[] }[]>`
    select c.relname as view, array_agg(a.attname::text order by a.attnum) as columns
    from pg_class as c join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = 'svc_inspect'::regnamespace and c.relkind = 'v'
    group by c.relname
    order by c.relname`;
  return new Map(rows.map(({ view, columns }) => [view, columns]));
}

/** The stable columns of `tables`; the others are the server's statistics, which change by themselves. */
const TABLES_THEMSELVES = ["schema", "name"];

/** The rows of a view with these columns, as sorted lines. */
export async function shownBy(sql: Sql, view: string, columns: readonly string[]): Promise<string[]> {
  const lasting = view === "tables" ? TABLES_THEMSELVES : columns;
  const rows = await sql<{ line: string }[]>`
    select shown::text as line from (select ${sql(lasting)} from svc_inspect.${sql(view)}) as shown order by 1`;
  return rows.map(({ line }) => line);
}

/** The rows of all views, by view. */
export async function allShown(sql: Sql): Promise<Map<string, string[]>> {
  const shown = new Map<string, string[]>();
  for (const [view, columns] of await viewsOf(sql)) shown.set(view, await shownBy(sql, view, columns));
  return shown;
}
