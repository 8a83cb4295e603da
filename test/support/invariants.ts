import type { Sql, TransactionSql } from "postgres";

/** The violations that `svc_inspect.invariants()` finds, a line for each invariant and environment. */
export async function violations(sql: Sql | TransactionSql): Promise<string[]> {
  const rows = await sql<{ line: string }[]>`
    select format('%s (%s): %s', i.invariant, i.violations, array_to_string(i.examples, '; ')) as line
    from svc_inspect.invariants() as i`;
  return rows.map(({ line }) => line);
}
