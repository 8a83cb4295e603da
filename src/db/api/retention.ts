import type { Sql } from "postgres";

/** The environments in which the sweeps of operations, keys and logs may find something. */
export async function environmentsToSweep(sql: Sql): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`select e as id from svc_api.environments_to_sweep() as e`;
  return rows.map(({ id }) => id);
}

/** What a sweep of operations removed. */
export interface SweptOperations {
  removed: number;
  /** The batch to go on after; null at the end. */
  through: number | null;
}
