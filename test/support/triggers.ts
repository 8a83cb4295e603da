import type { Sql } from "postgres";

/** Creates and drops triggers and their functions in one transaction, also on distributed tables, for which Citus needs settings to allow it. */
export async function changeTriggers(sql: Sql, ...statements: readonly string[]): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`set local citus.enable_unsafe_triggers = on`;
    await tx`set local citus.multi_shard_modify_mode = sequential`;
    for (const statement of statements) await tx.unsafe(statement);
  });
}
