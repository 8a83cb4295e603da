import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import path from "node:path";
import type { Sql } from "postgres";
import { connect } from "../../src/db/connect.js";
import { compileProject } from "../../src/dsl-compiler/index.js";
import { startReceiver } from "../lib/children.js";
import { createProject, createWebhook, sha256 } from "../lib/database.js";
import { postSteadily, postWhile, requestBytes } from "../lib/load.js";
import { latencyOf, median } from "../lib/measure.js";
import { medianTimes, timed, type TimePerUnit } from "../lib/processor-time.js";
import type { Row } from "../lib/report.js";
import { Watch } from "../lib/watch.js";
import { openInstallation, type Installation, type Service } from "../soak/service.js";
import { BarePipeline } from "./bare-pipeline.js";
import { beginnings, CUSTOMERS, nextEvent } from "./customers.js";
import { Load, waiting } from "./load.js";
import { MODELS, residentWithManyModels } from "./many-models.js";

const MODEL = path.resolve(import.meta.dirname, "../../examples/saas");
const LOOK_MS = 50;
const DRAIN_MS_MAX = 300_000;
const MEBIBYTE = 1024 * 1024;
const RSS_MIB_MAX = 512;
const STEADY_RATE = 2_000;
const P99_MS_MAX = 250;
/** At the steady rate, one in this many events is watched. */
const WATCHED_ONE_IN = 20;

interface Work {
  name: string;
  connections: number;
  path: string;
  /** Events per request. */
  events: number;
}

const BATCHES: Work = { name: "batches of 100, 4 connections", connections: 4, path: "/v1/events/batch", events: 100 };
const SINGLES: Work = { name: "single events, 64 connections", connections: 64, path: "/v1/events", events: 1 };

interface Setup {
  installation: Installation;
  sql: Sql;
  key: string;
  warmUpSeconds: number;
  seconds: number;
}

/**
 * The highest rate without a growing backlog: a service in one process as an operator runs it, the example's model, a strict schema, keys, a
 * webhook for all emissions. Senders send while at most 2,000 operations and as many deliveries wait. For comparison, in the same rounds:
 * what is accepted without evaluation, and a bare pipeline.
 */
export async function benchSustained(rounds: number, quick: boolean): Promise<Row[]> {
  const installation = await openInstallation(randomBytes(32).toString("hex"));
  const sql = connect(installation.databaseUrl, { max: 4, applicationName: "svc bench", statementTimeoutMs: 0 });
  try {
    const key = `svc_test_${randomBytes(20).toString("hex")}`;
    const compiled = await compileProject(MODEL);
    if (!compiled.ok) throw new Error("the example does not compile");
    const { environmentId, ...owner } = await createProject(sql, sha256(key), compiled.snapshot);
    const receiver = await startReceiver({ url: installation.databaseUrl, useRoles: installation.useRoles });
    await createWebhook(sql, environmentId, `${receiver.ready}/ok`, installation.secret);
    const setup = {
      installation,
      sql,
      key,
      ...(quick ? { warmUpSeconds: 5, seconds: 10 } : { warmUpSeconds: 10, seconds: 60 }),
    };
    await begin(setup);
    const figures = await measureRounds(setup, rounds);
    const visible = await visibleAt(setup);
    const manyModels = await residentWithManyModels(installation, sql, owner, compiled.snapshot);
    await receiver.stop();
    return [
      ...rowsOf(figures),
      memoryRow("peak memory of the service meanwhile", figures.residentMiB),
      memoryRow(`peak memory of the service with ${MODELS} models`, [manyModels / MEBIBYTE]),
      visible,
    ];
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/** All accounts sign up and are evaluated, so that states have the usual size from the first second of the measurement. */
async function begin({ installation, sql, key }: Setup): Promise<void> {
  const service = await installation.start();
  let from = 0;
  await postWhile([{ address: service.address, connections: 4 }], () => {
    if (from >= CUSTOMERS) return Promise.resolve(null);
    const body = JSON.stringify({ events: beginnings(from, 500) });
    from += 500;
    return Promise.resolve(requestBytes("/v1/events/batch", key, body));
  });
  const deadline = performance.now() + DRAIN_MS_MAX;
  while ((await waiting(sql)).some((count) => count > 0)) {
    if (performance.now() > deadline) throw new Error("the first operations were not evaluated in time");
    await delay(LOOK_MS);
  }
  await service.stop();
}

interface Figures {
  sustained: { batches: number[]; singles: number[] };
  accepted: { batches: number[]; singles: number[] };
  bare: number[];
  residentMiB: number[];
  processorTime: { batches: TimePerUnit[]; singles: TimePerUnit[] };
}

async function measureRounds(setup: Setup, rounds: number): Promise<Figures> {
  const figures: Figures = {
    sustained: { batches: [], singles: [] },
    accepted: { batches: [], singles: [] },
    bare: [],
    residentMiB: [],
    processorTime: { batches: [], singles: [] },
  };
  const { installation, sql, warmUpSeconds, seconds } = setup;
  for (let round = 0; round < rounds; round++) {
    for (const [name, work] of [["batches", BATCHES] as const, ["singles", SINGLES] as const]) {
      const { rate, residentMiB, perUnit } = await sustained(setup, work);
      figures.sustained[name].push(rate);
      figures.residentMiB.push(residentMiB);
      figures.processorTime[name].push(perUnit);
      figures.accepted[name].push(await accepted(setup, work));
    }
    const [{ bytes }] = await sql<[{ bytes: number }]>`
      select avg(octet_length(state::text))::integer as bytes from svc.customers`;
    const bare = await BarePipeline.open(installation.databaseUrl, bytes);
    figures.bare.push(await bare.rate(warmUpSeconds, seconds));
    await bare.close();
  }
  return figures;
}

/** Events per second that are accepted and evaluated without a growing backlog, and their processor time. */
async function sustained(setup: Setup, work: Work) {
  const { installation, sql, warmUpSeconds, seconds } = setup;
  const service = await installation.start();
  const load = loadOf(setup, service, work, true);
  await delay(warmUpSeconds * 1_000);
  const startedAt = performance.now();
  const { units, perUnit } = await timed({ sql, processes: { service: service.pid } }, async () => {
    const before = load.sent - (await waiting(sql))[0];
    await delay(seconds * 1_000);
    return load.sent - (await waiting(sql))[0] - before;
  });
  const rate = units / ((performance.now() - startedAt) / 1_000);
  await load.end();
  await service.stop();
  return { rate, residentMiB: load.residentBytes / MEBIBYTE, perUnit };
}

/** Events per second that are accepted while nothing is evaluated. */
async function accepted(setup: Setup, work: Work): Promise<number> {
  const { installation, sql, warmUpSeconds, seconds } = setup;
  const service = await installation.start("http");
  const load = loadOf(setup, service, work, false);
  await delay(warmUpSeconds * 1_000);
  const before = load.sent;
  await delay(seconds * 1_000);
  const rate = (load.sent - before) / seconds;
  await load.end();
  await service.stop();
  await sql`truncate svc.inbox`;
  return rate;
}

function loadOf(
  { sql, key }: Setup,
  service: Service,
  { connections, path, events }: Work,
  isEvaluated: boolean,
): Load {
  const next = () => {
    const body = events === 1 ? nextEvent() : { events: Array.from({ length: events }, nextEvent) };
    return requestBytes(path, key, JSON.stringify(body));
  };
  return new Load(service, sql, connections, events, next, isEvaluated);
}

/** The time from when an event is due until the view of customers shows it, at a steady rate; the first seconds after the start do not count. */
async function visibleAt({ installation, sql, key, warmUpSeconds, seconds }: Setup): Promise<Row> {
  const service = await installation.start();
  const watch = new Watch(sql, "bench");
  const sending = postSteadily(
    [{ address: service.address, connections: SINGLES.connections }],
    STEADY_RATE,
    (warmUpSeconds + seconds) * STEADY_RATE,
    (index, dueAt) => {
      const event = nextEvent();
      const timestamp = Date.parse(event.timestamp);
      const isWatched = index >= warmUpSeconds * STEADY_RATE && index % WATCHED_ONE_IN === 0;
      if (isWatched) watch.add({ customerId: event.customerId, timestamp, dueAt });
      return requestBytes(SINGLES.path, key, JSON.stringify(event));
    },
    () => undefined,
  );
  await watch.look(sending);
  await service.stop();
  const latency = latencyOf(watch.take())!;
  return {
    work: `event to visible state, ${STEADY_RATE} single events/s`,
    against: `p99 of ${P99_MS_MAX} ms`,
    ours: latency.p99,
    theirs: P99_MS_MAX,
    unit: "ms",
    less: true,
    floor: 1,
    aim: 0.24,
    latency: { ours: latency },
  };
}

function rowsOf({ sustained, accepted, bare, processorTime }: Figures): Row[] {
  const rate = (
    work: string,
    ours: number[],
    against: string,
    theirs: number[],
    floor: number | null,
    aim: number | null,
  ): Row => ({
    ...{ work, against, ours: median(ours), theirs: median(theirs), unit: "events/s", floor, aim },
    rounds: { ours, theirs },
  });
  const name = ({ name }: Work) => `sustained, ${name}`;
  return [
    {
      ...rate(name(BATCHES), sustained.batches, "a bare pipeline", bare, 0.5, 0.8),
      processorTime: medianTimes(processorTime.batches),
    },
    rate(name(BATCHES), sustained.batches, "the same, accepted only", accepted.batches, null, null),
    {
      ...rate(name(SINGLES), sustained.singles, "the same, accepted only", accepted.singles, 0.5, 0.7),
      processorTime: medianTimes(processorTime.singles),
    },
  ];
}

function memoryRow(work: string, residentMiB: number[]): Row {
  return {
    work,
    against: `${RSS_MIB_MAX} MiB`,
    ours: Math.max(...residentMiB),
    theirs: RSS_MIB_MAX,
    unit: "MiB",
    less: true,
    floor: 1,
    aim: null,
    rounds: { residentMiB },
  };
}
