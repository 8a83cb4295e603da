import { setImmediate as turn } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import type { Context } from "koa";
import type { Sql } from "postgres";
import { beforeAll, expect, it } from "vitest";
import type { AdminDeps } from "../../src/http/admin/route.js";
import { adminRoutes } from "../../src/http/admin/routes.js";
import { openApiRoutes } from "../../src/http/openapi/document.js";
import { EMPTY_SNAPSHOT } from "../../src/model/snapshot/types.js";
import { createDatabase } from "../support/database.js";
import { IS_DEEP } from "../support/property-runs.js";
import { startServiceProcess, type ServiceProcess } from "../support/service-process.js";
import { createTenant, type Tenant } from "../support/tenant.js";

// Measurements run in `npm run test:deep`, on an idle machine; `npm run attacks` sends the same while another tenant sends events.

/** How long, in seconds, a refused request can delay others: far less than without limits, and more than a busy machine delays anything. */
const BLOCK_MAX = 0.75;

/** The same for a valid request, in the best of several tries. */
const LEGAL_BLOCK_MAX = 0.1;
const TRIES = 10;

const METRICS_TOKEN = "a-token-of-the-tests-for-metrics-0123456789";

let sql: Sql;
let service: ServiceProcess;
let tenant: Tenant;
beforeAll(async () => {
  if (!IS_DEEP) return;
  const db = await createDatabase();
  sql = db.sql;
  service = await startServiceProcess(db.url, { SVC_METRICS_TOKEN: METRICS_TOKEN }, { role: "http" });
  tenant = await createTenant(sql, service.url);
  return async () => {
    await service.stop();
    await db.drop();
  };
});

function post(path: string, body: Text): Promise<Response> {
  const headers: Record<string, string> = typeof body === "string" ? {} : { "Content-Encoding": "gzip" };
  return path === BATCH ? tenant.send(path, body, { headers }) : tenant.admin("POST", path, { body, headers });
}

/** The longest block of the event loop since the last call, as the process measured it. */
async function longestBlock(): Promise<number> {
  const reply = await fetch(`${service.url}/metrics`, { headers: { Authorization: `Bearer ${METRICS_TOKEN}` } });
  const [, seconds] = /^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(await reply.text()) ?? [];
  return Number(seconds);
}

/** Repeats the work while it blocks: its own cost recurs each time, that of a busy machine does not. */
async function expectUnblocked(work: () => Promise<void>): Promise<void> {
  const blocks = [];
  do {
    await longestBlock();
    await work();
    blocks.push(await longestBlock());
  } while (Math.min(...blocks) >= LEGAL_BLOCK_MAX && blocks.length < TRIES);
  expect(Math.min(...blocks)).toBeLessThan(LEGAL_BLOCK_MAX);
}

const BATCH = "/v1/events/batch";
const VERSIONS = "/projects/app/config-versions";
const PREVIEWS = "/projects/app/previews";

const operation = (properties: string) => `{"customerId":"c","event":"e","properties":${properties}}`;
const batch = (...operations: string[]) => `{"events":[${operations.join(",")}]}`;
const members = (count: number) => Array.from({ length: count }, (_, n) => `"k${n}":0`).join(",");
const packed = (text: string) => new Uint8Array(gzipSync(text, { level: 1 }));
const submission = (changes: object) => JSON.stringify({ snapshot: { ...EMPTY_SNAPSHOT, ...changes } });
const named = (count: number, value: unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`name ${n}`, value]));
const many = (count: number, properties: string) => batch(...Array<string>(count).fill(operation(properties)));
const numbers = (count: number) => `{"a":[${"1,".repeat(count)}1]}`;
const manyMembers = () => members(3e6);
const manyEvents = () => submission({ events: named(4e5, {}) });
const manyValues = () => ({ type: "string", enum: Object.keys(named(70_000, 0)) });

type Text = string | Uint8Array<ArrayBuffer>;
it.runIf(IS_DEEP).each<[what: string, path: string, body: () => Text, status: number, code: string]>([
  ["three million members", BATCH, () => packed(batch(operation(`{${manyMembers()}}`))), 400, "VALIDATION_ERROR"],
  ["three million members of the body", BATCH, () => packed(`{${manyMembers()}}`), 400, "VALIDATION_ERROR"],
  ["88 MB of numbers", BATCH, () => packed(many(1_000, numbers(44_000))), 413, "PAYLOAD_TOO_LARGE"],
  ["11 MB of empty objects", BATCH, () => batch(`${"{},".repeat(3.6e6)}{}`), 400, "BATCH_SIZE_INVALID"],
  ["7 MB of unknown members", VERSIONS, () => `{"snapshot":{},${members(6e5)}}`, 400, "VALIDATION_ERROR"],
  ["unknown members of a snapshot", VERSIONS, () => submission(named(60_000, 0)), 422, "CONFIG_INVALID"],
  ["400,000 events", VERSIONS, manyEvents, 422, "CONFIG_INVALID"],
  ["an enum of 70,000 values", VERSIONS, () => submission({ traits: { plan: manyValues() } }), 422, "CONFIG_INVALID"],
  ["400,000 events in a preview", PREVIEWS, manyEvents, 422, "CONFIG_INVALID"],
])("%s are refused without blocking other requests", async (_, path, body, status, code) => {
  const text = body();
  await longestBlock();
  const reply = await post(path, text);
  expect([reply.status, await reply.json()]).toMatchObject([status, { error: { code } }]);
  expect(await longestBlock()).toBeLessThan(BLOCK_MAX);
});

const TEXT = `{"a":"${"v".repeat(65_536 - 8)}"}`;
/** A batch whose last event is invalid, so that all are read before it is refused. */
const refused = (count: number, properties: string) => `${many(count, properties).slice(0, -3)},"x":0}]}`;

it.runIf(IS_DEEP).each<[what: string, body: () => Text, status: number]>([
  ["300 arrays of 30,000 numbers, compressed", () => packed(refused(300, numbers(30_000))), 400],
  ["60 MiB, as much as is accepted", () => refused(1_000, TEXT), 400],
  ["60 MiB, compressed, which the database accepts", () => packed(many(1_000, TEXT)), 202],
])("a large batch is read without blocking other requests: %s", { timeout: 180_000 }, async (_, body, status) => {
  const sent = body();
  await expectUnblocked(async () => expect((await post(BATCH, sent)).status).toBe(status));
});

async function sendLetters(): Promise<void> {
  const properties = { a: "→".repeat(21_000) };
  const events = Array.from({ length: 200 }, () => ({ customerId: "letters", event: "e", properties }));
  expect((await post(BATCH, packed(JSON.stringify({ events })))).status).toBe(202);
}

/** Writes the executions of a rule whose condition has very many parts. */
async function writeExecutions(): Promise<void> {
  const conditions = [{ text: "→".repeat(21_000) }];
  await sql`
    insert into svc.rule_executions (environment_id, customer_id, rule_id, result, triggered_by, conditions, action, executed_at, cause_type)
    select environment_id, 'ruled', 'long', 'fail', 'traits', ${JSON.stringify(conditions)}::text::json, '{}', now(), 'timer'
    from svc.environments, generate_series(1, 200)
    where name = 'test'`;
  await sql`
    insert into svc.customers (environment_id, customer_id, created_at)
    select environment_id, 'ruled', now() from svc.environments where name = 'test'`;
}

/** Sends calls of the tracking API that are as large as it accepts, and that go into quarantine. */
async function sendCalls(): Promise<void> {
  const headers = { Authorization: `Basic ${Buffer.from(`${tenant.keys.test}:`).toString("base64")}` };
  const call = { userId: "calls", event: "e", properties: 0, context: { text: "→".repeat(170_000) } };
  for (let n = 0; n < 64; n++)
    expect((await tenant.send("/v1/track", JSON.stringify(call), { headers })).status).toBe(200);
}

it.runIf(IS_DEEP).each([
  ["a page of events", sendLetters, "events?limit=200"],
  ["an export", sendLetters, "customers/letters/export?"],
  ["an export of calls in quarantine", sendCalls, "customers/calls/export?"],
  ["a page of rule executions", writeExecutions, "rule-executions?detail=true&limit=200"],
])("large answers do not block other requests: %s", { timeout: 180_000 }, async (_, prepare, path) => {
  await prepare();
  await expectUnblocked(async () => {
    const reply = await tenant.admin("GET", `/projects/app/${path}&env=test`);
    const size = (await reply.arrayBuffer()).byteLength;
    expect([reply.status, size > 200 * 63_000]).toEqual([200, true]);
  });
});

it("building the API description at its first request yields to other requests", async () => {
  const routes = adminRoutes({} as AdminDeps);
  const [description] = openApiRoutes({ publicUrl: () => "http://127.0.0.1", routes });
  const ctx = { set: () => undefined } as unknown as Context;
  let turns = 0;
  const built = new AbortController();
  const building = Promise.resolve(description!.handle(ctx)).then(() => built.abort());
  while (!built.signal.aborted) {
    turns += 1;
    await turn();
  }
  await building;
  expect(turns).toBeGreaterThanOrEqual(routes.length);
});
