import type { Sql } from "postgres";

/** Tables whose rows are temporary or change all the time: they must stay small, whatever passes through them. */
export const HOT_TABLES = {
  inbox: "svc.inbox",
  jobs: "graphile_worker._private_jobs",
  keys: "svc.key_usage",
  customers: "svc.customers",
  webhooks: "svc.webhooks",
  workers: "svc.workers",
} as const;

export type HotTable = keyof typeof HOT_TABLES;

export interface Size {
  /** Including indexes. */
  bytes: number;
  /** Rows that vacuum has not removed yet, according to the statistics. */
  deadRows: number;
}

export async function sizesOf(sql: Sql): Promise<Record<HotTable, Size>> {
  const rows = await sql<{ name: HotTable; bytes: string; dead: string }[]>`
    select t.key as name, pg_total_relation_size(t.value::regclass) as bytes, pg_stat_get_dead_tuples(t.value::regclass) as dead
    from json_each_text(${JSON.stringify(HOT_TABLES)}::text::json) as t`;
  const sizes = rows.map(({ name, bytes, dead }) => [name, { bytes: Number(bytes), deadRows: Number(dead) }] as const);
  return Object.fromEntries(sizes) as Record<HotTable, Size>;
}
