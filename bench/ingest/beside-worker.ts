import { setTimeout as delay } from "node:timers/promises";
import type { BenchDatabase } from "../lib/database.js";
import { startApp, startWorker, type Child } from "../lib/children.js";
import { measure, median, type Variant } from "../lib/measure.js";
import type { Row } from "../lib/report.js";
import { directVariant, withConnections } from "./batches.js";
import { fill } from "./fill.js";
import { CONNECTIONS, singlesVariant } from "./single-events.js";

/** The least backlog of the worker when a round begins, so that it is always busy. */
const BACKLOG = 40_000;
const CUSTOMERS = 20_000;
const EVALUATING_MS_MAX = 30_000;

interface Work {
  name: string;
  unit: string;
  variant: Variant;
}

/** Ingestion while a worker process evaluates the same environment, compared with ingestion alone. */
export async function benchBesideWorker(
  database: BenchDatabase,
  rounds: number,
  { batches, requests }: { batches: number; requests: number },
): Promise<Row[]> {
  const app = await startApp(database, "service");
  try {
    return await withConnections(database, 4, async (connections) => {
      const targets = [{ address: app.ready, connections: CONNECTIONS }];
      const works: Work[] = [
        {
          name: "batches of 1,000 keyed events, 1 connection",
          unit: "events/s",
          variant: directVariant(connections.slice(0, 1), database, batches),
        },
        {
          name: "batches of 1,000 keyed events, 4 connections",
          unit: "events/s",
          variant: directVariant(connections, database, batches),
        },
        {
          name: `single events, ${CONNECTIONS} connections`,
          unit: "requests/s",
          variant: singlesVariant("single events", targets, database.key, requests),
        },
      ];
      return await compare(database, rounds, works);
    });
  } finally {
    await app.stop();
  }
}

async function compare(database: BenchDatabase, rounds: number, works: Work[]): Promise<Row[]> {
  const evaluated = works.map((): number[] => []);
  const measured = await measure(
    [...works.map(({ variant }) => variant), ...whileEvaluating(database, works, evaluated)],
    rounds,
    (round) => database.settle(round),
  );
  return works.map(({ name, unit }, index) => {
    const alone = measured[index]!;
    const beside = measured[works.length + index]!;
    const meanwhile = Math.round(median(evaluated[index]!.slice(1)));
    return {
      work: `${name}, a worker evaluating ${meanwhile.toLocaleString("en-US")} events/s meanwhile`,
      against: "the same, no worker",
      ours: beside.rate,
      theirs: alone.rate,
      unit,
      floor: null,
      aim: null,
      latency: { ours: beside.latency, theirs: alone.latency },
      rounds: { ours: beside.rates, theirs: alone.rates, evaluated: evaluated[index]! },
    };
  });
}

/**
 * The same works while a worker process evaluates, from before they begin until after they end. Each round has one worker for all of them,
 * because it takes longer to start than they take. `evaluated` receives its events per second.
 */
function whileEvaluating(database: BenchDatabase, works: Work[], evaluated: number[][]): Variant[] {
  let worker: Child | null = null;
  let remaining = works.length;
  return works.map(({ variant }, index) => {
    let pending = 0;
    let accepted = 0;
    let countedAt = 0;
    return {
      name: `${variant.name}, a worker evaluating`,
      prepare: async () => {
        const input = await variant.prepare();
        await fill(database, Math.max(0, BACKLOG - (await pendingOf(database))), CUSTOMERS);
        worker ??= await startWorker(database);
        pending = await untilEvaluating(database);
        countedAt = performance.now();
        return input;
      },
      run: async (input, latencies) => (accepted = await variant.run(input, latencies)),
      after: async () => {
        const seconds = (performance.now() - countedAt) / 1_000;
        evaluated[index]!.push((pending + accepted - (await pendingOf(database))) / seconds);
        remaining -= 1;
        if (remaining > 0) return;
        remaining = works.length;
        await worker?.stop();
        worker = null;
      },
    };
  });
}

/** Waits until the worker has taken something from the inbox; returns how much remains in it. */
async function untilEvaluating(database: BenchDatabase): Promise<number> {
  const before = await pendingOf(database);
  const deadline = performance.now() + EVALUATING_MS_MAX;
  while (performance.now() < deadline) {
    const pending = await pendingOf(database);
    if (pending < before) return pending;
    await delay(20);
  }
  throw new Error(`the worker evaluated none of ${before} operations`);
}

async function pendingOf({ sql }: BenchDatabase): Promise<number> {
  const [{ count }] = await sql<[{ count: number }]>`select count(*)::integer as count from svc.inbox`;
  return count;
}
