import type { Sql, TransactionSql } from "postgres";
import { codeOf } from "./sqlstate.js";

/** Reads within one snapshot of the database, which is held until `work` has ended. Throws as `inTransaction` does. */
export function onSnapshot<T>(sql: Sql, work: (tx: TransactionSql) => Promise<T>): Promise<T> {
  return inTransaction(sql, "isolation level repeatable read read only", work);
}

/**
 * Does work in a transaction.
 *
 * If the connection is lost, further queries of `work` fail here, so that whatever waits for them ends, and its outcome is dropped: the driver
 * would send them, or a commit or rollback, on the lost connection and fail with an error that cannot be caught.
 *
 * @param mode of the transaction, as `begin` takes it
 * @throws what `work` throws, and the driver's error if the connection is lost, even while `work` waits for something else
 */
export async function inTransaction<T>(sql: Sql, mode: string, work: (tx: TransactionSql) => Promise<T>): Promise<T> {
  let isLost = false;
  let result: T | undefined;
  try {
    await sql.begin(mode, async (tx) => {
      try {
        const guarded = new Proxy(tx, {
          apply: (target, self, given): unknown => {
            if (isLost) throw Object.assign(new Error("the connection was lost"), { code: "CONNECTION_CLOSED" });
            return Reflect.apply(target, self, given);
          },
        });
        result = await work(guarded);
      } catch (error) {
        if (!isLost && !codeOf(error).startsWith("CONNECTION_")) throw error;
        isLost = true;
      }

      if (isLost) await new Promise<never>(() => undefined);
    });
  } catch (error) {
    isLost = true;
    throw error;
  }
  return result as T;
}
