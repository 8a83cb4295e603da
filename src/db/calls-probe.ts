import type { Sql } from "postgres";

/** What keeps the service from its work, one public sentence each; empty when it is ready. Fails where the database is away. */
export async function unreadyReasons(sql: Sql): Promise<string[]> {
  const [row] = await sql<[{ reasons: string[] }]>`select svc_api.unready_reasons() as reasons`;
  return row.reasons;
}
