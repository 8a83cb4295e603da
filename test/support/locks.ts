import type { ISql } from "postgres";

/** How many sessions of the database wait for a lock: all, or those whose query or application's name is like this. */
export async function waitingForLock(sql: ISql, like = "%"): Promise<number> {
  const rows = await sql`
    select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and (query like ${like} or application_name like ${like})`;
  return rows.length;
}
