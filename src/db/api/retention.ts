import type { Sql } from "postgres";

/** The environments in which the sweeps below may find something. */
export async function environmentsToSweep(sql: Sql): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`select e as id from svc_api.environments_to_sweep() as e`;
  return rows.map(({ id }) => id);
}

export interface SweptOperations {
  removed: number;
  /** The batch to go on after; null at the end. */
  through: number | null;
}

/**
 * Removes operations that are older than the plan keeps them, from about `limit`.
 *
 * @param after the batch that the last call came to; null for the first of a sweep
 */
export async function sweepOperations(
  sql: Sql,
  environmentId: number,
  after: number | null,
  limit: number,
): Promise<SweptOperations> {
  const [row] = await sql<[{ swept: SweptOperations }]>`
    select svc_api.sweep_operations(${environmentId}, ${after}, ${limit}) as swept`;
  return row.swept;
}

/** Removes idempotency keys of events that were removed long ago, up to `limit`; answers how many. */
export async function sweepKeys(sql: Sql, environmentId: number, limit: number): Promise<number> {
  const [row] = await sql<[{ rows: number }]>`select svc_api.sweep_keys(${environmentId}, ${limit}) as rows`;
  return row.rows;
}

/** Removes logs that recomputes superseded, up to about `limit` rows of a kind; answers more than 0 while there may be more. */
export async function sweepLogs(sql: Sql, environmentId: number, limit: number): Promise<number> {
  const [row] = await sql<[{ rows: number }]>`select svc_api.sweep_logs(${environmentId}, ${limit}) as rows`;
  return row.rows;
}
