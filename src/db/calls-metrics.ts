import type { Sql } from "postgres";

/** A part of a figure that workers gather. */
export interface CounterRow {
  counter: string;
  /** Values of its labels, put together; empty where it has none. */
  label: string;
  /** Upper bound of a histogram's bucket, or what stands for its sum; empty of a counter. */
  bucket: string;
  value: number;
}

/** The figures of the whole installation, as svc_api.metrics() answers them. Of none is known whose they are. */
export interface Installation {
  pendingOperations: number;
  oldestPendingSeconds: number;
  setAsideCustomers: number;
  jobs: { task: string; state: string; jobs: number }[];
  workers: number;
  recomputes: { kind: string; status: string; recomputes: number }[];
  recomputeCustomers: { all: number; done: number };
  deliveries: { pending: number; oldestDueSeconds: number };
  webhooks: { disabled: number; failing: number };
  connections: { application: string; connections: number }[];
  connectionsMax: number;
  counters: CounterRow[];
}

/** What is to be seen of the installation in one look, in a few milliseconds. */
export async function readInstallation(sql: Sql): Promise<Installation> {
  const [row] = await sql<[{ metrics: Installation }]>`select svc_api.metrics() as metrics`;
  return row.metrics;
}

/** Whether the database answers a question that needs nothing of it; rejects where it does not. */
export async function answers(sql: Sql): Promise<void> {
  await sql`select 1`;
}

/** Adds what a worker has gathered. */
export async function addWorkerCounters(sql: Sql, counters: readonly CounterRow[]): Promise<void> {
  await sql`select svc_api.add_worker_counters(${JSON.stringify(counters)}::text::json)`;
}
