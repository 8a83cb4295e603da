import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { bootstrap } from "../../src/db/calls-admin.js";
import { newAccessToken } from "../../src/http/credentials.js";
import { EMPTY_SNAPSHOT } from "../../src/snapshot/types.js";
import { createDatabase, type TestDatabase } from "../support/database.js";
import { startServiceProcess, type ServiceProcess } from "../support/service-process.js";

/** What a request may hold up others for, in seconds: far less than without its bounds, and more than a busy machine holds up anything. */
const BLOCK_MAX = 0.75;

const METRICS_TOKEN = "a-token-of-the-tests-for-metrics-0123456789";
const token = newAccessToken();
let db: TestDatabase;
let service: ServiceProcess;
let organizationId: string;
let key: string;

beforeAll(async () => {
  db = await createDatabase();
  service = await startServiceProcess(db.url, { SVC_METRICS_TOKEN: METRICS_TOKEN }, { role: "http" });
  const document = await bootstrap(db.sql, "acme", "owner@acme.example", token.hash);
  organizationId = (JSON.parse(document) as { organizationId: string }).organizationId;
  const project = await post("/projects", JSON.stringify({ name: "App", slug: "app" }));
  key = ((await project.json()) as { keys: { test: string } }).keys.test;
});
afterAll(async () => {
  await service.stop();
  await db.drop();
});

function post(path: string, body: string | Uint8Array<ArrayBuffer>): Promise<Response> {
  const headers = {
    Authorization: `Bearer ${path.startsWith("/v1/") ? key : token.text}`,
    "X-Svc-Organization": organizationId,
    "Content-Type": "application/json",
    ...(typeof body === "string" ? {} : { "Content-Encoding": "gzip" }),
  };
  return fetch(service.url + path, { method: "POST", headers, body });
}

/** The longest time, since it was last asked for, in which the process served nobody else, as it measured it itself. */
async function longestBlock(): Promise<number> {
  const reply = await fetch(`${service.url}/metrics`, { headers: { Authorization: `Bearer ${METRICS_TOKEN}` } });
  const [, seconds] = /^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(await reply.text()) ?? [];
  return Number(seconds);
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

it.each<[string, string, () => string | Uint8Array<ArrayBuffer>, number, string]>([
  ["three million members", BATCH, () => packed(batch(operation(`{${members(3e6)}}`))), 400, "VALIDATION_ERROR"],
  ["three million members of the body", BATCH, () => packed(`{${members(3e6)}}`), 400, "VALIDATION_ERROR"],
  [
    "88 MB of numbers",
    BATCH,
    () => packed(batch(...Array<string>(1_000).fill(operation(`{"a":[${"1,".repeat(44_000)}1]}`)))),
    413,
    "PAYLOAD_TOO_LARGE",
  ],
  ["11 MB of empty objects", BATCH, () => batch(`${"{},".repeat(3.6e6)}{}`), 400, "BATCH_SIZE_INVALID"],
  ["7 MB of unknown members", VERSIONS, () => `{"snapshot":{},${members(6e5)}}`, 400, "VALIDATION_ERROR"],
  ["unknown members of a snapshot", VERSIONS, () => submission(named(60_000, 0)), 422, "CONFIG_INVALID"],
  ["400,000 events", VERSIONS, () => submission({ events: named(4e5, {}) }), 422, "CONFIG_INVALID"],
  [
    "an enum of 70,000 values",
    VERSIONS,
    () => submission({ traits: { plan: { type: "string", enum: Object.keys(named(70_000, 0)) } } }),
    422,
    "CONFIG_INVALID",
  ],
  ["400,000 events in a preview", PREVIEWS, () => submission({ events: named(4e5, {}) }), 422, "CONFIG_INVALID"],
])("%s are refused without holding up others", async (_, path, body, status, code) => {
  const text = body();
  await longestBlock();
  const reply = await post(path, text);
  expect([reply.status, await reply.json()]).toMatchObject([status, { error: { code } }]);
  expect(await longestBlock()).toBeLessThan(BLOCK_MAX);
});

it("a large batch that is right is taken without holding up others", async () => {
  const body = packed(batch(...Array<string>(300).fill(operation(`{"a":[${"1,".repeat(30_000)}1]}`))));
  await longestBlock();
  const reply = await post(BATCH, body);
  expect(await reply.json()).toMatchObject({ accepted: 300 });
  expect(await longestBlock()).toBeLessThan(BLOCK_MAX);
});

it("what holds up others is counted", async () => {
  const reply = await fetch(`${service.url}/metrics`, { headers: { Authorization: `Bearer ${METRICS_TOKEN}` } });
  expect(await reply.text()).toMatch(/^svc_event_loop_delay_seconds_bucket\{le="0\.05"\} \d+$/m);
});
