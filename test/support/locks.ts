import type { ISql } from "postgres";
import { vi } from "vitest";

/** How many sessions of the database wait for a lock: all, or those whose query or application's name is like this. */
export async function waitingForLock(sql: ISql, like = "%"): Promise<number> {
  const rows = await sql`
    select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and (query like ${like} or application_name like ${like})`;
  return rows.length;
}

/** The server process whose query is like this and waits for a lock, once there is one; also from within a transaction. */
export function lockWaiter(sql: ISql, like: string): Promise<number> {
  return vi.waitUntil(
    async () => {
      // Activity is a snapshot of the transaction's first look unless cleared.
      await sql`select pg_stat_clear_snapshot()`;
      const [row] = await sql<{ pid: number }[]>`
        select pid from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like ${like}`;
      return row?.pid;
    },
    { timeout: 20_000 },
  );
}
