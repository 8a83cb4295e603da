import { readFile, writeFile } from "node:fs/promises";
import { once } from "node:events";
import { pino } from "pino";
import { connect } from "../../src/db/connect.js";
import { Models } from "../../src/evaluation/models.js";
import { evaluateEnvironment } from "../../src/tasks/evaluate/evaluate-environment.js";
import { startApp, startWorker } from "../lib/children.js";
import type { BenchDatabase, BenchServer } from "../lib/database.js";
import { nextEvents } from "../lib/events.js";
import { postSteadily, requestBytes } from "../lib/load.js";
import { latencyOf, median, type Latency } from "../lib/measure.js";
import type { Row } from "../lib/report.js";
import { drainBacklog, fill } from "../ingest/fill.js";
import { addVersions, CHANGED, runJob, SCORED, type JobOptions } from "./jobs.js";

const REQUESTS_PER_SECOND = 100;
const CONNECTIONS = 16;
const MIB = 1024;

/** Recomputes of all customers, compared with `COPY` of their events; their effect on other requests; and memory. */
export async function benchRecompute(server: BenchServer, rounds: number, quick: boolean): Promise<Row[]> {
  const size = quick ? { events: 100_000, customers: 2_000 } : { events: 1_000_000, customers: 20_000 };
  const small = await population(server, size.events / 10, size.customers / 10);
  // Ten times, to produce as much garbage: the only difference is how much is recomputed at once.
  const smallPeak = await peakOf(
    small,
    Array.from({ length: 10 }, (_, n) => recomputeUnder(n % 2 === 0 ? CHANGED : 1)),
  );
  await small.close();

  const database = await population(server, size.events, size.customers);
  const rows = await speed(database, rounds, size);
  rows.push(await beside(database, quick));
  rows.push(await backtests(database, rounds, size));
  const peak = await peakOf(database, [recomputeUnder(CHANGED)]);
  const memory = {
    against: `the same with a tenth of that, ten times: ${size.events / 10} events`,
    unit: "MiB",
    less: true,
  };
  rows.push({
    ...memory,
    work: `peak memory of a worker that recomputes ${size.events} events`,
    ours: peak,
    theirs: smallPeak,
    floor: 1.2,
    aim: 1.05,
  });
  rows.push(...(await oneCustomer(database, size.events, smallPeak, memory)));
  await database.close();
  return rows;
}

/** Creates a database with evaluated events. */
async function population(server: BenchServer, events: number, customers: number): Promise<BenchDatabase> {
  const database = await server.createDatabase();
  await fill(database, events, customers);
  const dependencies = {
    sql: database.sql,
    models: new Models(),
    settleSeconds: 30,
    logger: pino({ level: "silent" }),
  };
  await evaluateEnvironment(dependencies, database.environmentId);
  await addVersions(database);
  await database.settle(0);
  return database;
}

async function speed(
  database: BenchDatabase,
  rounds: number,
  { events, customers }: { events: number; customers: number },
): Promise<Row[]> {
  const worker = await startWorker(database);
  const seconds = { copy: [] as number[], dry: [] as number[], run: [] as number[] };
  try {
    for (let round = 0; round <= rounds; round++) {
      await database.settle(round);
      const copy = await copySeconds(database);
      const dry = await runJob(database, { kind: "dry_run", version: 1 + (round % 2) });
      await database.settle(1);
      const run = await runJob(database, { kind: "recompute", version: 1 + ((round + 1) % 2) });
      if (round === 0) continue;
      seconds.copy.push(copy);
      seconds.dry.push(dry);
      seconds.run.push(run);
    }
  } finally {
    await worker.stop();
  }
  const theirs = {
    theirs: median(seconds.copy),
    against: "COPY … TO STDOUT of the events by customer and time",
    unit: "s",
    less: true,
  };
  const of = `${events.toLocaleString("en-US")} events of ${customers.toLocaleString("en-US")} customers`;
  return [
    {
      ...theirs,
      work: `dry run, ${of}`,
      ours: median(seconds.dry),
      floor: 2,
      aim: 1.3,
      rounds: { ours: seconds.dry, theirs: seconds.copy },
    },
    {
      ...theirs,
      work: `recompute, ${of}`,
      ours: median(seconds.run),
      floor: 3,
      aim: 2,
      rounds: { ours: seconds.run, theirs: seconds.copy },
    },
  ];
}

/** A backtest of a model over a year, week by week, compared with a dry run of the same year. */
async function backtests(
  database: BenchDatabase,
  rounds: number,
  { events, customers }: { events: number; customers: number },
): Promise<Row> {
  const { sql, environmentId } = database;
  // Spread the events over a year.
  await sql`
    update svc.events set occurred_at = accepted_at - (hashint8(event_seq) & 2147483647) % (365 * 86400) * interval '1 second'
    where environment_id = ${environmentId}`;
  await sql`vacuum analyze svc.events`;
  const worker = await startWorker(database);
  const seconds = { backtest: [] as number[], dry: [] as number[] };
  try {
    // Afterwards the dry run has no differences to record.
    await runJob(database, { kind: "recompute", version: SCORED });
    for (let round = 0; round <= rounds; round++) {
      await database.settle(round);
      const dry = await runJob(database, { kind: "dry_run", version: SCORED });
      const backtest = await runJob(database, { kind: "backtest", version: SCORED });
      if (round === 0) continue;
      seconds.dry.push(dry);
      seconds.backtest.push(backtest);
    }
  } finally {
    await worker.stop();
  }
  return {
    work: `backtest of a year by weeks, ${events.toLocaleString("en-US")} events of ${customers.toLocaleString("en-US")} customers`,
    against: "a dry run of the same",
    unit: "s",
    less: true,
    ours: median(seconds.backtest),
    theirs: median(seconds.dry),
    floor: 3,
    aim: 1.5,
    rounds: { ours: seconds.backtest, theirs: seconds.dry },
  };
}

async function copySeconds({ url, environmentId }: BenchDatabase): Promise<number> {
  // On a separate connection: after a copy, the driver sometimes does not answer on it any more.
  const sql = connect(url, { max: 1, applicationName: "svc bench copy" });
  await sql`select 1`;
  const startedAt = performance.now();
  const stream = await sql`
    copy (select * from svc.events where environment_id = ${sql.unsafe(String(environmentId))} order by customer_id, occurred_at)
    to stdout`.readable();
  stream.resume();
  await once(stream, "end");
  const seconds = (performance.now() - startedAt) / 1_000;
  await sql.end({ timeout: 1 });
  return seconds;
}

/** Single events over HTTP while all customers are recomputed repeatedly, compared with the same without recomputes. */
async function beside(database: BenchDatabase, quick: boolean): Promise<Row> {
  const worker = await startWorker(database);
  const app = await startApp(database, "service");
  const seconds = quick ? 5 : 20;
  const load = () => answerTimes(app.ready, database.key, seconds);
  try {
    await drainBacklog(database);
    await load(); // does not count
    const without = await load();
    const over = new AbortController();
    const recomputing = (async () => {
      for (let version = 1; !over.signal.aborted; version = 3 - version)
        await runJob(database, { kind: "recompute", version });
    })();
    const during = await load();
    over.abort();
    await recomputing;
    return {
      work: `HTTP p99 at ${REQUESTS_PER_SECOND} requests/s while all are recomputed`,
      against: "the same while nothing is",
      ours: during.p99,
      theirs: without.p99,
      unit: "ms",
      less: true,
      floor: 2,
      aim: 1.2,
      latency: { ours: during, theirs: without },
    };
  } finally {
    await app.stop();
    await worker.stop();
  }
}

async function answerTimes(address: string, key: string, seconds: number): Promise<Latency> {
  const count = seconds * REQUESTS_PER_SECOND;
  const events = nextEvents(count);
  const dueAt: number[] = [];
  const times: number[] = [];
  await postSteadily(
    [{ address, connections: CONNECTIONS }],
    REQUESTS_PER_SECOND,
    count,
    (index, due) => {
      dueAt[index] = due;
      return requestBytes("/v1/events", key, JSON.stringify(events[index]));
    },
    (index) => times.push(performance.now() - dueAt[index]!),
  );
  return latencyOf(times)!;
}

/** One customer with as many events as all the others together. */
async function oneCustomer(
  database: BenchDatabase,
  events: number,
  smallPeak: number,
  memory: Pick<Row, "against" | "unit" | "less">,
): Promise<Row[]> {
  const { sql, environmentId } = database;
  // Copies all events to a customer of the population, as if they were its own; its state is rebuilt from them.
  await sql`
    insert into svc.events (environment_id, event_seq, customer_id, event, properties, occurred_at, accepted_at)
    select environment_id, -event_seq, 'customer-7', event, properties, occurred_at, accepted_at
    from svc.events where environment_id = ${environmentId}`;
  await sql`analyze svc.events`;
  const startedAt = performance.now();
  const peak = await peakOf(database, [{ ...recomputeUnder(1), customerId: "customer-7" }]);
  const seconds = (performance.now() - startedAt) / 1_000;
  return [
    {
      ...memory,
      work: `the same for one customer with ${events} events (${seconds.toFixed(1)} s with the worker's start)`,
      ours: peak,
      theirs: smallPeak,
      floor: 1.2,
      aim: 1.05,
    },
  ];
}

const recomputeUnder = (version: number): JobOptions => ({ kind: "recompute", version });

/** The peak memory (MiB) of a worker process that does only these jobs. */
async function peakOf(database: BenchDatabase, jobs: readonly JobOptions[]): Promise<number> {
  const worker = await startWorker(database);
  try {
    // The peak of the start does not count.
    await writeFile(`/proc/${worker.pid}/clear_refs`, "5");
    for (const job of jobs) await runJob(database, job);
    const status = await readFile(`/proc/${worker.pid}/status`, "utf8");
    return Number(/VmHWM:\s+(\d+) kB/.exec(status)![1]) / MIB;
  } finally {
    await worker.stop();
  }
}
