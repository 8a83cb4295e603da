import { setTimeout as delay } from "node:timers/promises";
import type { Sql } from "postgres";
import type { BenchDatabase } from "../lib/database.js";
import { startApp, startWorker } from "../lib/children.js";
import { nextEvents, type KeyedEvent } from "../lib/events.js";
import { postSteadily, requestBytes } from "../lib/load.js";
import { latencyOf } from "../lib/measure.js";
import type { Row } from "../lib/report.js";
import { drainBacklog, fill } from "./fill.js";

const RATE = 500;
const CUSTOMERS = 2_000;
const CONNECTIONS = 64;
const POLL_MS = 2;
const P99_MS_MAX = 250;
const SILENCE_MS_MAX = 30_000;

/** The time from when a single event is due until the view of customers shows it, at 500 events/s. */
export async function benchVisible(database: BenchDatabase, seconds: number): Promise<Row[]> {
  await fill(database, CUSTOMERS * 5, CUSTOMERS);
  const worker = await startWorker(database);
  const app = await startApp(database, "service");
  try {
    await drainBacklog(database);
    await database.settle(0);
    await observe(database, app.ready, RATE); // a second that does not count
    const sent = await observe(database, app.ready, seconds * RATE);
    const visible = latencyOf(sent.map(({ dueAt, visibleAt }) => visibleAt - dueAt))!;
    const answered = latencyOf(sent.map(({ dueAt, answeredAt }) => answeredAt - dueAt))!;
    const after = latencyOf(sent.map(({ answeredAt, visibleAt }) => Math.max(0, visibleAt - answeredAt)))!;
    const row = { unit: "ms", less: true, theirs: P99_MS_MAX, against: `p99 of ${P99_MS_MAX} ms` };
    const orientation = { floor: null, aim: null };
    const work = `at ${RATE} single events/s`;
    return [
      {
        ...row,
        work: `event to visible state, ${work}`,
        ours: visible.p99,
        floor: 1,
        aim: 0.2,
        latency: { ours: visible },
      },
      { ...row, ...orientation, work: `event to answer, ${work}`, ours: answered.p99, latency: { ours: answered } },
      { ...row, ...orientation, work: `answer to visible state, ${work}`, ours: after.p99, latency: { ours: after } },
    ];
  } finally {
    await app.stop();
    await worker.stop();
  }
}

interface Sent {
  customerId: string;
  /** The event's timestamp: the state includes it once the customer's last event is no older. */
  timestamp: number;
  dueAt: number;
  answeredAt: number;
  visibleAt: number;
}

/** Sends events steadily and polls the view meanwhile, until it shows all of them. */
async function observe({ sql, key }: BenchDatabase, address: string, count: number): Promise<Sent[]> {
  const all: Sent[] = [];
  const unseen = new Set<Sent>();
  const sending = postSteadily(
    [{ address, connections: CONNECTIONS }],
    RATE,
    count,
    (index, dueAt) => {
      const [event] = nextEvents(1, CUSTOMERS) as [KeyedEvent];
      const timestamp = Date.now();
      const sent = { customerId: event.customerId, timestamp, dueAt, answeredAt: NaN, visibleAt: NaN };
      all[index] = sent;
      unseen.add(sent);
      const text = JSON.stringify({ ...event, timestamp: new Date(timestamp).toISOString() });
      return requestBytes("/v1/events", key, text);
    },
    (index) => {
      all[index]!.answeredAt = performance.now();
    },
  );
  const seeing = (async () => {
    let progressAt = performance.now();
    let seen = 0;
    while (seen < count) {
      await delay(POLL_MS);
      const polled = [...unseen];
      const shown = await lastEvents(sql, polled);
      const now = performance.now();
      for (const sent of polled) {
        if ((shown.get(sent.customerId) ?? -Infinity) < sent.timestamp) continue;
        sent.visibleAt = now;
        unseen.delete(sent);
        seen += 1;
        progressAt = now;
      }
      if (now - progressAt > SILENCE_MS_MAX) throw new Error("no further event becomes visible");
    }
  })();
  await Promise.all([sending, seeing]);
  return all;
}

/** The time of the last event that the state of each customer shows. */
async function lastEvents(sql: Sql, sent: Sent[]): Promise<Map<string, number>> {
  const rows = await sql<{ customer_id: string; last_event_at: Date }[]>`
    select customer_id, last_event_at
    from svc_inspect.customers
    where project = 'bench' and environment = 'test' and customer_id = any(${sent.map((one) => one.customerId)}::text[])`;
  return new Map(rows.map((row) => [row.customer_id, row.last_event_at.getTime()]));
}
