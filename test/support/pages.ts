import type { PendingQuery, Row, Sql, TransactionSql } from "postgres";

/** How many pages of 8 KiB a statement reads, including those that the functions it calls read. */
export async function pagesOf(sql: Sql | TransactionSql, statement: PendingQuery<Row[]>): Promise<number> {
  const [row] = await sql<[{ "QUERY PLAN": [{ Plan: Record<string, number> }] }]>`
    explain (analyze, buffers, format json) ${statement}`;
  const [{ Plan: plan }] = row["QUERY PLAN"];
  return plan["Shared Hit Blocks"]! + plan["Shared Read Blocks"]!;
}
