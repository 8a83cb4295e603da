import type { Sql } from "postgres";

/** Makes and drops triggers, and what they call, in one transaction: also of distributed tables, where Citus has to be told to allow it. */
export async function changeTriggers(sql: Sql, ...statements: readonly string[]): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`set local citus.enable_unsafe_triggers = on`;
    await tx`set local citus.multi_shard_modify_mode = sequential`;
    for (const statement of statements) await tx.unsafe(statement);
  });
}
