import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import Table from "cli-table3";
import type { Sql } from "postgres";
import { request } from "undici";
import { connect } from "../../src/db/connect.js";
import { startReceiver } from "../lib/children.js";
import { createProject, createWebhook, sha256 } from "../lib/database.js";
import { nextEvents, type KeyedEvent } from "../lib/events.js";
import { postSteadily, requestBytes } from "../lib/load.js";
import { latencyOf, median, type Latency } from "../lib/measure.js";
import { milliseconds, type Row } from "../lib/report.js";
import { Watch } from "../lib/watch.js";
import { customerOf, SNAPSHOT } from "./model.js";
import { openInstallation, type Service } from "./service.js";
import { HOT_TABLES, sizesOf, type HotTable, type Size } from "./tables.js";

const RATE = 500;
const CONNECTIONS = 64;
/** Only one in this many events is watched, because polling costs time too. */
const WATCHED_ONE_IN = 10;
const P99_MS_MAX = 250;
const MEBIBYTE = 1024 * 1024;
const SETTLE_MS_MAX = 120_000;

interface Sample {
  seconds: number;
  residentBytes: number;
  /** Latency from when an event was due until the view of customers showed it. */
  visible: Latency | null;
  delivered: number;
  sizes: Record<HotTable, Size>;
}

/** A service under a steady load for minutes: its memory and disk, and whether it stays as fast as at the beginning. */
export async function benchSoak(minutes: number, everySeconds: number): Promise<Row[]> {
  const installation = await openInstallation(randomBytes(32).toString("hex"));
  const sql = connect(installation.databaseUrl, { max: 4, applicationName: "svc bench" });
  try {
    const key = `svc_test_${randomBytes(20).toString("hex")}`;
    const { environmentId } = await createProject(sql, sha256(key), SNAPSHOT);
    const receiver = await startReceiver({ url: installation.databaseUrl, useRoles: installation.useRoles });
    await createWebhook(sql, environmentId, `${receiver.ready}/ok`, installation.secret);
    const service = await installation.start();
    const samples = await soak({ sql, key, service, receiver: receiver.ready }, minutes * 60, everySeconds);
    await service.stop();
    await receiver.stop();
    return rowsOf(samples, minutes);
  } finally {
    await sql.end({ timeout: 5 });
  }
}

interface Setup {
  sql: Sql;
  key: string;
  service: Service;
  /** Address of the receiver of webhooks. */
  receiver: string;
}

async function soak(setup: Setup, seconds: number, everySeconds: number): Promise<Sample[]> {
  const { sql, key, service } = setup;
  const watch = new Watch(sql, "bench");
  const startedAt = performance.now();
  const sending = postSteadily(
    [{ address: service.address, connections: CONNECTIONS }],
    RATE,
    seconds * RATE,
    (index, dueAt) => {
      const timestamp = Date.now();
      const customerId = customerOf(index);
      const [event] = nextEvents(1) as [KeyedEvent];
      // A different position in each ten, because customers are assigned by tens too.
      if (index % WATCHED_ONE_IN === Math.floor(index / WATCHED_ONE_IN) % WATCHED_ONE_IN) {
        watch.add({ customerId, timestamp, dueAt });
      }
      const text = JSON.stringify({ ...event, customerId, timestamp: new Date(timestamp).toISOString() });
      return requestBytes("/v1/events", key, text);
    },
    () => undefined,
  );
  const looking = watch.look(sending);
  const samples: Sample[] = [];
  const take = async () => {
    const sample = {
      seconds: Math.round((performance.now() - startedAt) / 1_000),
      residentBytes: await service.residentBytes(),
      visible: latencyOf(watch.take()),
      delivered: await deliveredTo(setup.receiver),
      sizes: await sizesOf(sql),
    };
    samples.push(sample);
    console.log(inOneLine(sample));
  };
  const sampling = (async () => {
    for (let at = everySeconds; at < seconds; at += everySeconds) {
      await delay(startedAt + at * 1_000 - performance.now());
      await take();
    }
  })();
  await Promise.all([looking, sampling]);
  await take();
  await checkComplete(setup, seconds * RATE);
  printSamples(samples);
  return samples;
}

/** Nothing may be lost, duplicated or left behind: every event was stored and evaluated, and every emission arrived once. */
async function checkComplete({ sql, receiver }: Setup, sent: number): Promise<void> {
  const deadline = performance.now() + SETTLE_MS_MAX;
  for (;;) {
    const [counts] = await sql<[{ events: number; pending: number; emissions: number; due: number }]>`
      select
        (select count(*)::integer from svc.events) as events,
        (select count(*)::integer from svc.inbox) as pending,
        (select count(*)::integer from svc.emissions) as emissions,
        (select count(*)::integer from svc.deliveries where status <> 'delivered') as due`;
    const delivered = await deliveredTo(receiver);
    // Customers keep going quiet, so the counts are equal only while nothing is under way.
    if (counts.pending === 0 && counts.due === 0 && counts.emissions === delivered && counts.events === sent) return;
    if (performance.now() > deadline)
      throw new Error(`not all arrived: ${JSON.stringify({ sent, delivered, ...counts })}`);
    await delay(200);
  }
}

function rowsOf(samples: Sample[], minutes: number): Row[] {
  const work = `${RATE} events/s for ${minutes} min`;
  // The first third fills caches, and the tables up to the size that temporary rows need.
  const third = Math.floor(samples.length / 3);
  const [middle, last] = [samples.slice(third, 2 * third), samples.slice(2 * third)];
  const compared = (what: string, unit: string, of: (sample: Sample) => number, floor: number): Row => ({
    work: `${what}, last third of ${work}`,
    against: "second third",
    ours: median(last.map(of)),
    theirs: median(middle.map(of)),
    unit,
    less: true,
    floor,
    aim: 1,
    rounds: { samples: samples.map(of) },
  });
  const p99s = samples.map(({ visible }) => visible?.p99 ?? NaN);
  return [
    {
      work: `p99 of event to visible state, worst sample, ${work}`,
      against: `${P99_MS_MAX} ms`,
      ours: Math.max(...p99s.filter((p99) => !Number.isNaN(p99))),
      theirs: P99_MS_MAX,
      unit: "ms",
      less: true,
      floor: 1,
      aim: 0.4,
      rounds: { p50: samples.map(({ visible }) => visible?.p50 ?? NaN), p99: p99s },
    },
    compared("memory of the service", "MiB", ({ residentBytes }) => residentBytes / MEBIBYTE, 1.1),
    compared("size of the inbox", "kB", ({ sizes }) => sizes.inbox.bytes / 1024, 1.25),
    compared("size of the queue", "kB", ({ sizes }) => sizes.jobs.bytes / 1024, 1.25),
  ];
}

function printSamples(samples: Sample[]): void {
  const names = Object.keys(HOT_TABLES) as HotTable[];
  const table = new Table({
    head: ["s", "memory", "p50", "p99", "delivered", ...names],
    style: { head: [], border: [] },
  });
  for (const { seconds, residentBytes, visible, delivered, sizes } of samples) {
    table.push([
      seconds,
      `${Math.round(residentBytes / MEBIBYTE)} MiB`,
      visible === null ? "–" : milliseconds(visible.p50),
      visible === null ? "–" : milliseconds(visible.p99),
      delivered.toLocaleString("en-US"),
      ...names.map((name) => inWords(sizes[name])),
    ]);
  }
  console.log(`sizes with indexes, and rows that vacuum has not removed yet\n${table.toString()}\n`);
}

function inWords({ bytes, deadRows }: Size): string {
  return `${Math.round(bytes / 1024).toLocaleString("en-US")} kB\n${deadRows.toLocaleString("en-US")} dead`;
}

function inOneLine({ seconds, residentBytes, visible, delivered }: Sample): string {
  const p99 = visible === null ? "–" : milliseconds(visible.p99);
  return `${seconds} s: ${Math.round(residentBytes / MEBIBYTE)} MiB, p99 ${p99}, ${delivered} delivered`;
}

async function deliveredTo(receiver: string): Promise<number> {
  const { body } = await request(`${receiver}/seen`);
  return ((await body.json()) as { count: number }).count;
}
