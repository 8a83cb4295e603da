import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Sql } from "postgres";
import { request } from "undici";
import { createAgent } from "../../src/webhooks/agent.js";
import { newSecret, sealingKey, sealSecret } from "../../src/webhooks/secret.js";
import { sign } from "../../src/webhooks/send.js";
import { startReceiver, startWorker } from "../lib/children.js";
import type { BenchDatabase } from "../lib/database.js";
import { drain, measure, type Measured } from "../lib/measure.js";
import { medianTimes, timed, type TimePerUnit } from "../lib/processor-time.js";
import type { Row } from "../lib/report.js";

const CONCURRENCY = 50;
const ENDPOINTS = 100;
const HANGING = 20;
const EMISSIONS_PER_SECOND = 400;
const STEP_MS = 25;

interface Setup {
  database: BenchDatabase;
  /** Address of the receiver. */
  receiver: string;
  /** SVC_SECRET of the worker. */
  secret: string;
  /** Process ids. */
  processes: { worker: number; receiver: number };
}

/** How fast webhooks are delivered, compared with a bare loop; and how endpoints that hang affect the others. */
export async function benchWebhooks(database: BenchDatabase, rounds: number, quick: boolean): Promise<Row[]> {
  const secret = randomBytes(32).toString("hex");
  const receiver = await startReceiver(database);
  const worker = await startWorker(database, secret);
  try {
    const processes = { worker: worker.pid, receiver: receiver.pid };
    const setup = { database, receiver: receiver.ready, secret, processes };
    return [
      await throughput(setup, rounds, quick ? 2_000 : 20_000),
      await hanging(setup, Math.min(rounds, 3), quick ? 3_000 : 20_000),
    ];
  } finally {
    await worker.stop();
    await receiver.stop();
  }
}

/** A backlog of one webhook, from when it is enabled until the last delivery is recorded. */
async function throughput(setup: Setup, rounds: number, deliveries: number): Promise<Row> {
  const { sql } = setup.database;
  const [webhookId] = await createWebhooks(setup, 1, () => "/ok", { maxConcurrency: CONCURRENCY });
  const signingSecret = newSecret();
  const agent = createAgent({ allowPrivate: true });
  const times: TimePerUnit[] = [];
  const deliverAll = async () => {
    await sql`update svc.webhooks set disabled_at = null, disabled_reason = null where webhook_id = ${webhookId!}`;
    await sql`select pg_notify('svc_deliveries', '')`;
    // The database is queried only when all have arrived, because queries cost time too.
    while ((await seen(setup)).count < deliveries) await delay(10);
    while (await anyPending(sql)) await delay(10);
    return deliveries;
  };
  const [ours, bare] = await measure<string[]>(
    [
      {
        name: "ours",
        prepare: async () => {
          await sql`
            update svc.webhooks set disabled_at = now(), disabled_reason = 'Until the round begins.'
            where webhook_id = ${webhookId!}`;
          await writeBacklog(setup, webhookId!, deliveries);
          await sql`vacuum (analyze) svc.deliveries, svc.emissions`;
          return [];
        },
        run: async () => {
          const { units, perUnit } = await timed({ sql, processes: setup.processes }, deliverAll);
          times.push(perUnit);
          return units;
        },
        after: () => checkCount(setup, deliveries),
      },
      {
        name: "bare loop",
        prepare: () => Promise.resolve(bodies(deliveries)),
        run: async (messages) => {
          const send = (body: string, worker: number) => post(setup, agent, signingSecret, body, worker);
          await drain(messages, [...Array(CONCURRENCY).keys()], [], send);
          return deliveries;
        },
        after: () => checkCount(setup, deliveries),
      },
    ],
    rounds,
    () => resetReceiver(setup),
  );
  await agent.close();
  await sql`delete from svc.webhooks`;
  return {
    ...ratio("webhook deliveries, 50 under way", "a bare loop, same client and signature", ours!, bare!),
    // Without the round that does not count.
    processorTime: medianTimes(times.slice(1)),
  };
}

/** Emissions at a steady rate, each for one of many webhooks: the time from when they are written until they arrive. */
async function hanging(setup: Setup, rounds: number, durationMs: number): Promise<Row> {
  const { sql } = setup.database;
  const variant = (name: string, pathOf: (n: number) => string) => ({
    name,
    prepare: async () => {
      await sql`delete from svc.webhooks`;
      await createWebhooks(setup, ENDPOINTS, pathOf, {});
      await resetReceiver(setup);
    },
    run: async (_: unknown, latencies: number[]) => {
      const emissions = await emitSteadily(setup, durationMs);
      const expected = Math.round((emissions * (ENDPOINTS - HANGING)) / ENDPOINTS);
      for (;;) {
        const { count, delays } = await seen(setup);
        if (count < expected) {
          await delay(20);
          continue;
        }
        for (const one of delays) latencies.push(one);
        return count;
      }
    },
    after: async () => {
      await sql`delete from svc.webhooks`;
    },
  });
  const [withHanging, without] = await measure(
    [
      variant("20 hang", (n) => (n < HANGING ? "/hang" : "/ok")),
      variant("none hangs", (n) => (n < HANGING ? "/fine" : "/ok")),
    ],
    rounds,
  );
  return {
    work: `p99 from emission to arrival at ${ENDPOINTS - HANGING} of ${ENDPOINTS} webhooks, ${EMISSIONS_PER_SECOND}/s, while the other ${HANGING} hang`,
    against: "the same while none hangs",
    ours: withHanging!.latency!.p99,
    theirs: without!.latency!.p99,
    unit: "ms",
    less: true,
    floor: 1.5,
    aim: 1.1,
    latency: { ours: withHanging!.latency, theirs: without!.latency },
  };
}

/** Creates `count` webhooks; the nth (from 0) receives emissions of the type `t_n` at `pathOf(n)`. */
async function createWebhooks(
  { database, receiver, secret }: Setup,
  count: number,
  pathOf: (n: number) => string,
  { maxConcurrency = 10 }: { maxConcurrency?: number },
): Promise<string[]> {
  const key = sealingKey(secret);
  const rows = Array.from({ length: count }, (_, n) => ({
    url: receiver + pathOf(n),
    type: `t_${n}`,
    secret: sealSecret(newSecret(), key).toString("hex"),
  }));
  const created = await database.sql<{ webhook_id: string }[]>`
    insert into svc.webhooks (environment_id, webhook_id, url, event_types, max_concurrency, sealed_secret)
    select
      ${database.environmentId}::integer, svc.random_id('whk_'), r.url, array[r.type], ${maxConcurrency}::integer,
      decode(r.secret, 'hex')
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as r (url text, type text, secret text)
    returning webhook_id`;
  return created.map((row) => row.webhook_id);
}

/** Writes due deliveries directly, without the fan-out, as if the webhook had been disabled meanwhile. */
async function writeBacklog({ database }: Setup, webhookId: string, deliveries: number): Promise<void> {
  await database.sql`
    with numbered as (
      select nextval(svc.evaluation_seq(${database.environmentId})) * 65536 as emission_seq, n from generate_series(1, ${deliveries}::integer) as n
    ),
    emitted as (
      insert into svc.emissions (
        environment_id, emission_seq, customer_id, event_type, source, metadata, emitted_at, cause_type, cause_id, config_version
      )
      select
        ${database.environmentId}::integer, k.emission_seq, 'customer-' || k.n, 'customer.activated', 'lifecycle',
        '{"previous_lifecycle": "trial", "new_lifecycle": "activated"}', now(), 'event', 'evt_0000000000000400', 1
      from numbered as k
      returning emission_seq
    )
    insert into svc.deliveries (environment_id, webhook_id, emission_seq)
    select ${database.environmentId}::integer, ${webhookId}, e.emission_seq from emitted as e`;
}

/** Bodies like those of the backlog. */
function bodies(count: number): string[] {
  return Array.from({ length: count }, (_, n) =>
    JSON.stringify({
      id: messageId(n),
      type: "customer.activated",
      timestamp: new Date().toISOString(),
      data: {
        customerId: `customer-${n}`,
        environment: "test",
        source: "lifecycle",
        metadata: { previous_lifecycle: "trial", new_lifecycle: "activated" },
        configVersion: "v1",
        cause: { type: "event", id: "evt_0000000000000400" },
        sequence: n * 65536,
      },
    }),
  );
}

function messageId(n: number): string {
  return `emi_${n.toString(16).padStart(16, "0")}`;
}

/** Sends one message of the bare loop, which uses no database. */
async function post(
  { receiver }: Setup,
  agent: ReturnType<typeof createAgent>,
  secret: string,
  body: string,
  worker: number,
): Promise<void> {
  const id = messageId(worker);
  const timestamp = Math.floor(Date.now() / 1_000);
  const answer = await request(`${receiver}/ok`, {
    method: "POST",
    dispatcher: agent,
    headers: {
      "content-type": "application/json",
      "webhook-id": id,
      "webhook-timestamp": String(timestamp),
      "webhook-signature": sign({ id, timestamp, body }, [secret]),
    },
    body,
  });
  await answer.body.dump();
  if (answer.statusCode !== 204) throw new Error(`the receiver answered ${answer.statusCode}`);
}

/** Writes emissions every STEP_MS, as one evaluation does, for the webhooks in turn. Returns how many there were. */
async function emitSteadily({ database }: Setup, durationMs: number): Promise<number> {
  const each = (EMISSIONS_PER_SECOND * STEP_MS) / 1_000;
  const steps = Math.round(durationMs / STEP_MS / (ENDPOINTS / each)) * (ENDPOINTS / each);
  const startedAt = Date.now();
  for (let step = 0; step < steps; step++) {
    await delay(Math.max(0, startedAt + step * STEP_MS - Date.now()));
    await database.sql.begin(async (tx) => {
      const [next] = await tx<[{ seq: string }]>`select nextval(svc.evaluation_seq(${database.environmentId})) as seq`;
      await tx`
        insert into svc.emissions (
          environment_id, emission_seq, customer_id, event_type, source, metadata, emitted_at, cause_type
        )
        select
          ${database.environmentId}::integer, ${next.seq}::bigint * 65536 + n, 'customer-1',
          't_' || (${step * each}::integer + n) % ${ENDPOINTS}::integer, 'bench',
          json_build_object('madeAt', ${String(Date.now())}::bigint), now(), 'timer'
        from generate_series(0, ${each}::integer - 1) as n`;
      await tx`
        insert into svc.emission_batches (environment_id, evaluation_seq, emissions)
        values (${database.environmentId}, ${next.seq}, ${each})`;
      await tx`select svc.fan_out(${database.environmentId}, array[${next.seq}::bigint])`;
    });
  }
  return steps * each;
}

async function anyPending(sql: Sql): Promise<boolean> {
  const [row] = await sql<[{ pending: boolean }]>`
    select exists (select from svc.deliveries where status = 'pending') as pending`;
  return row.pending;
}

async function seen({ receiver }: Setup): Promise<{ count: number; delays: number[] }> {
  const answer = await request(`${receiver}/seen`);
  return (await answer.body.json()) as { count: number; delays: number[] };
}

async function resetReceiver({ receiver }: Setup): Promise<void> {
  const answer = await request(`${receiver}/seen`, { method: "DELETE" });
  await answer.body.dump();
}

/** Checks that each delivery has arrived once. */
async function checkCount(setup: Setup, deliveries: number): Promise<void> {
  const { count } = await seen(setup);
  if (count !== deliveries) throw new Error(`${count} of ${deliveries} deliveries arrived`);
  await resetReceiver(setup);
}

function ratio(work: string, against: string, ours: Measured, theirs: Measured): Row {
  return {
    work,
    against,
    ours: ours.rate,
    theirs: theirs.rate,
    unit: "/s",
    floor: 0.5,
    aim: 0.8,
    rounds: { ours: ours.rates, theirs: theirs.rates },
  };
}
