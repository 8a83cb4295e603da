import { randomBytes, randomUUID } from "node:crypto";
import { pino } from "pino";
import { ingestBatch } from "../src/db/api/ingestion.js";
import { Models } from "../src/evaluation/models.js";
import { EMPTY_SNAPSHOT, type Snapshot } from "../src/model/snapshot/types.js";
import { evaluateEnvironment } from "../src/tasks/evaluate/evaluate-environment.js";
import { addProject, type BenchDatabase, sha256 } from "./lib/database.js";
import { measure } from "./lib/measure.js";
import type { Row } from "./lib/report.js";

const FEW = 300;
const MANY = 30_000;
const LIVE_EVENTS = 100;
const BATCH = 1_000;
const DAY = 86_400_000;

const AMOUNTS = { kind: "aggregate", of: { event: "used" }, property: "amount", within: "30d" } as const;

/** Segments by the sum and the average of what was used within a month: each event determines anew when the customer would leave them without further events. */
const SNAPSHOT: Snapshot = {
  ...EMPTY_SNAPSHOT,
  events: { used: { properties: { amount: { type: "number" } } } },
  segments: [
    { id: "heavy", when: { ...AMOUNTS, function: "sum", operator: "gte", value: 100 } },
    { id: "dear", when: { ...AMOUNTS, function: "avg", operator: "gte", value: 25 } },
  ],
};

/** Single events of a customer with many events in the window of a sum and an average, compared with one with few. */
export async function benchWindows(database: BenchDatabase, rounds: number): Promise<Row[]> {
  const { sql, token, organizationId } = database;
  const keyHash = sha256(randomBytes(20).toString("hex"));
  const by = { tokenHash: sha256(token), organizationId, requestId: "bench" };
  const environmentId = await addProject(sql, by, "windows", keyHash, SNAPSHOT);
  const dependencies = { sql, models: new Models(), settleSeconds: 30, logger: pino({ level: "silent" }) };
  let eventCount = 0;
  const accept = (customerId: string, instants: readonly number[]) => {
    const events = instants.map((at) => ({
      customerId,
      event: "used",
      properties: { amount: 1 + (eventCount % 50) },
      timestamp: new Date(at).toISOString(),
      idempotencyKey: `windows-${eventCount++}`,
    }));
    return ingestBatch(sql, { keyHash, batchId: randomUUID(), repeated: false }, JSON.stringify({ events }));
  };
  const evaluate = () => evaluateEnvironment(dependencies, environmentId);
  const from = Date.now() - 29 * DAY;
  for (const size of [FEW, MANY]) {
    const instants = Array.from({ length: size }, (_, i) => from + (i / size) * 28 * DAY);
    for (let i = 0; i < size; i += BATCH) await accept(`has-${size}`, instants.slice(i, i + BATCH));
  }
  await evaluate();

  const [many, few] = await measure(
    [MANY, FEW].map((size) => ({
      name: `has-${size}`,
      prepare: () => undefined,
      run: async (_, latencies) => {
        for (let i = 0; i < LIVE_EVENTS; i++) {
          const begunAt = performance.now();
          await accept(`has-${size}`, [Date.now()]);
          await evaluate();
          latencies.push(performance.now() - begunAt);
        }
        return LIVE_EVENTS;
      },
    })),
    rounds,
    (round) => database.settle(round),
  );
  return [
    {
      work: `an event of a customer with ${MANY.toLocaleString("en-US")} in the window of a sum and an average`,
      against: `an event of one with ${FEW}`,
      ours: many!.rate,
      theirs: few!.rate,
      unit: "events/s",
      floor: 0.5,
      aim: 0.8,
      latency: { ours: many!.latency, theirs: few!.latency },
      rounds: { ours: many!.rates, theirs: few!.rates },
    },
  ];
}
