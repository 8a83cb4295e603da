import type { BenchDatabase } from "../lib/database.js";
import { startApp } from "../lib/children.js";
import { post, type Target } from "../lib/load.js";
import { measure, type Variant } from "../lib/measure.js";
import type { Row } from "../lib/report.js";
import { BATCH } from "./bodies.js";
import { batchRequests } from "./http-batches.js";
import { CONNECTIONS, singlesVariant } from "./single-events.js";

const SENDERS = 4;

/** Two service processes that share a load, compared with one that has it alone, on one database. */
export async function benchTwoProcesses(
  database: BenchDatabase,
  rounds: number,
  { batches, requests }: { batches: number; requests: number },
): Promise<Row[]> {
  const apps = await Promise.all([startApp(database, "service"), startApp(database, "service")]);
  const targets = (processes: number, connections: number): Target[] =>
    apps.slice(0, processes).map(({ ready }) => ({ address: ready, connections: connections / processes }));
  try {
    const singles = await measure(
      [1, 2].map((processes) =>
        singlesVariant(String(processes), targets(processes, CONNECTIONS), database.key, requests),
      ),
      rounds,
      (round) => database.settle(round),
    );
    const batched = await measure(
      [1, 2].map((processes): Variant => ({
        name: String(processes),
        prepare: () => batchRequests(batches, database.key),
        run: async (bytes, latencies) => {
          await post(targets(processes, SENDERS), bytes as Buffer[], latencies);
          return batches * BATCH;
        },
      })),
      rounds,
      (round) => database.settle(round),
    );
    return [
      {
        work: `single events, ${CONNECTIONS} connections, two service processes`,
        unit: "requests/s",
        measured: singles,
      },
      { work: `batches of 1,000, ${SENDERS} senders, two service processes`, unit: "events/s", measured: batched },
    ].map(({ work, unit, measured: [one, two] }) => ({
      work,
      against: "one service process",
      ours: two!.rate,
      theirs: one!.rate,
      unit,
      floor: 0.9,
      aim: 1,
      latency: { ours: two!.latency, theirs: one!.latency },
      rounds: { ours: two!.rates, theirs: one!.rates },
    }));
  } finally {
    for (const app of apps) await app.stop();
  }
}
