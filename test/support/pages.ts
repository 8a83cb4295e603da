import type { TransactionSql } from "postgres";

/** How many pages of 8 KiB a statement reads, with what the functions read that it calls. */
export async function pagesOf(tx: TransactionSql, statement: string): Promise<number> {
  const [row] = await tx.unsafe<[{ "QUERY PLAN": [{ Plan: Record<string, number> }] }]>(
    `explain (analyze, buffers, format json) ${statement}`,
  );
  const [{ Plan: plan }] = row["QUERY PLAN"];
  return plan["Shared Hit Blocks"]! + plan["Shared Read Blocks"]!;
}
