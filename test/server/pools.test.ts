import { afterAll, beforeAll, expect, it } from "vitest";
import { call } from "../../src/db/api/call.js";
import { newAccessToken } from "../../src/http/request/credentials.js";
import { readConfig } from "../../src/server/config.js";
import { openHttp, type OpenHttp } from "../../src/server/http-role.js";
import { createDatabase, type TestDatabase } from "../support/database.js";
import { runLog } from "../support/run-log.js";

/** As many as a process takes at once, and some that wait. */
const READS = 28;

const token = newAccessToken();
let db: TestDatabase;
let http: OpenHttp;
let organizationId: string;
let key: string;

beforeAll(async () => {
  db = await createDatabase();
  const { config } = readConfig({ SVC_PORT: "0" });
  http = await openHttp(config, runLog());
  http.serve({ databaseUrl: db.url, useRoles: true, secret: "a secret of the tests, long enough" });
  const document = await call(db.sql, "bootstrap", "acme", "owner@acme.example", token.hash);
  organizationId = (JSON.parse(document) as { organizationId: string }).organizationId;
  const project = await admin("POST", "/projects", { name: "App", slug: "app" });
  key = ((await project.json()) as { keys: { test: string } }).keys.test;
  await db.sql`insert into svc.workers (worker_id, seen_at) values ('a worker', now() + interval '1 hour')`;
});
afterAll(async () => {
  await http.stop();
  await db.drop();
});

function admin(method: string, address: string, body?: unknown): Promise<Response> {
  return fetch(http.address + address, {
    method,
    headers: {
      Authorization: `Bearer ${token.text}`,
      "X-Svc-Organization": organizationId,
      "Content-Type": "application/json",
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

/** Calls of the process that wait for a lock. */
async function blocked(): Promise<number> {
  const rows = await db.sql`
    select from pg_stat_activity
    where datname = current_database() and application_name like 'svc http%' and wait_event_type = 'Lock'`;
  return rows.length;
}

it("administration that hangs takes no place of ingestion and of the probes, and what waits for one is refused", async () => {
  const lock = await db.sql.reserve();
  await lock`begin`;
  await lock`lock table svc.webhooks in access exclusive mode`;
  const reads = Array.from(
    { length: READS },
    async () => (await admin("GET", "/projects/app/webhooks?env=test")).status,
  );
  try {
    await expect.poll(blocked, { timeout: 20_000 }).toBeGreaterThanOrEqual(6);
    const event = { customerId: "c", event: "login" };
    const ingested = await fetch(`${http.address}/v1/events`, {
      method: "POST",
      headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
      body: JSON.stringify(event),
    });
    expect(ingested.status).toBe(202);
    expect(await (await fetch(`${http.address}/readyz`)).json()).toEqual({ status: "ok" });
    // While those that have a place still hang.
    expect(await Promise.race(reads)).toBe(503);
    // Two are left for others than this token.
    expect(await blocked()).toBe(6);
  } finally {
    await lock`rollback`;
    lock.release();
  }
  const statuses = (await Promise.all(reads)).toSorted((a, b) => a - b);
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(6);
  expect(new Set(statuses)).toEqual(new Set([200, 503]));
  expect((await admin("GET", "/projects/app/webhooks?env=test")).status).toBe(200);
});
