import type { Sql, TransactionSql } from "postgres";

/** What `svc_inspect.invariants()` finds, a line for each invariant and environment; none while all is well. */
export async function violations(sql: Sql | TransactionSql): Promise<string[]> {
  const rows = await sql<{ line: string }[]>`
    select format('%s (%s): %s', i.invariant, i.violations, array_to_string(i.examples, '; ')) as line
    from svc_inspect.invariants() as i`;
  return rows.map(({ line }) => line);
}
