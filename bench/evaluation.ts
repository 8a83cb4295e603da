import { randomUUID } from "node:crypto";
import { pino } from "pino";
import { ingestBatch } from "../src/db/api/ingestion.js";
import { evaluateEnvironment } from "../src/tasks/evaluate/evaluate-environment.js";
import { Models } from "../src/evaluation/models.js";
import type { BenchDatabase } from "./lib/database.js";
import { nextEvents } from "./lib/events.js";
import { median } from "./lib/measure.js";
import type { Row } from "./lib/report.js";

const BATCH = 1_000;

/** Live evaluation by one worker, compared with the ingestion of the same batches over one connection. */
export async function benchEvaluation(
  { sql, keyHash, environmentId }: BenchDatabase,
  rounds: number,
  batches: number,
): Promise<Row[]> {
  const dependencies = { sql, models: new Models(), settleSeconds: 30, logger: pino({ level: "silent" }) };
  await evaluateEnvironment(dependencies, environmentId); // what other benchmarks left behind
  const ingested: number[] = [];
  const evaluated: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    const bodies = Array.from({ length: batches }, () => JSON.stringify({ events: nextEvents(BATCH) }));
    const ingestRate = await rateOf(batches * BATCH, async () => {
      for (const body of bodies) await ingestBatch(sql, { keyHash, batchId: randomUUID(), repeated: false }, body);
    });
    // Two turns at once, as in a worker that has no other environment to evaluate.
    const turn = () => evaluateEnvironment(dependencies, environmentId);
    const evaluationRate = await rateOf(batches * BATCH, () => Promise.all([turn(), turn()]));
    if (round === 0) continue;
    ingested.push(ingestRate);
    evaluated.push(evaluationRate);
  }
  return [
    {
      work: "live evaluation, one worker",
      against: "ingestion of the same batches, 1 connection",
      ours: median(evaluated),
      theirs: median(ingested),
      unit: "events/s",
      floor: 0.8,
      aim: 1.2,
      rounds: { ours: evaluated, theirs: ingested },
    },
  ];
}

async function rateOf(units: number, work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return units / ((performance.now() - startedAt) / 1_000);
}
