import type { ISql } from "postgres";
import { vi } from "vitest";

/** How many sessions of the database wait for a lock: all, or those whose query or application name is like a pattern. */
export async function waitingForLock(sql: ISql, like = "%"): Promise<number> {
  return (await lockWaiters(sql, like)).length;
}

/** Waits for a session that waits for a lock and whose query is like a pattern; returns its process id. Works also within a transaction. */
export function lockWaiter(sql: ISql, like: string): Promise<number> {
  return vi.waitUntil(async () => (await lockWaiters(sql, like))[0], { timeout: 20_000 });
}

/** The process ids of sessions that wait for a lock; on a cluster those of the coordinator, also for waits at another node. */
async function lockWaiters(sql: ISql, like: string): Promise<number[]> {
  // Within a transaction the activity is a snapshot of its first query unless cleared.
  const [{ hasNodes }] = await sql<[{ hasNodes: boolean }]>`
    select pg_stat_clear_snapshot(), to_regclass('citus_stat_activity') is not null as "hasNodes"`;
  const elsewhere = sql`
    or pid in (select citus_pid_for_gpid(w.global_pid) from citus_stat_activity as w where w.wait_event_type = 'Lock')`;
  const rows = await sql<{ pid: number }[]>`
    select pid from pg_stat_activity
    where datname = current_database() and (query like ${like} or application_name like ${like})
      and (wait_event_type = 'Lock' ${hasNodes ? elsewhere : sql``})`;
  return rows.map(({ pid }) => pid);
}
