import { afterAll, beforeEach, expect, it } from "vitest";
import { readConfig } from "../../src/server/config.js";
import { openHttp } from "../../src/server/http-role.js";
import { useDatabase } from "../support/database.js";
import { waitingForLock } from "../support/locks.js";
import { runLog } from "../support/run-log.js";
import { changeTriggers } from "../support/triggers.js";
import { call } from "../../src/db/api/call.js";
import { newCredential } from "../../src/http/request/credentials.js";
import { createTenant } from "../support/tenant.js";

/** As many as a process handles at once, and some that wait. */
const READS = 28;

const db = await useDatabase();
const { sql } = db;
const { config } = readConfig({ SVC_PORT: "0" });
const http = await openHttp(config, runLog());
http.serve({ databaseUrl: db.url, useRoles: true, secret: "a secret of the tests, long enough" });
const { admin, send } = await createTenant(sql, http.address);
await sql`insert into svc.workers (worker_id) values ('a worker')`;
beforeEach(() => sql`update svc.workers set seen_at = now()`);
afterAll(() => http.stop());

/** The number of the process's calls that wait for a lock. */
const blocked = () => waitingForLock(sql, "svc http%");

it("hanging administrative requests use no places of ingestion and probes, and those waiting are refused", async () => {
  const lock = await sql.reserve();
  await lock`begin`;
  await lock`lock table svc.webhooks in access exclusive mode`;
  const read = async () => (await admin("GET", "/projects/app/webhooks?env=test")).status;
  const reads = Array.from({ length: READS }, read);
  try {
    await expect.poll(blocked, { timeout: 20_000 }).toBeGreaterThanOrEqual(6);
    expect((await send("/v1/events", { customerId: "c", event: "login" })).status).toBe(202);
    expect(await readyz()).toEqual([200, { status: "ok" }]);
    // While those with a place still hang.
    expect(await Promise.race(reads)).toBe(503);
    // Two are reserved for other tokens.
    expect(await blocked()).toBe(6);
  } finally {
    await lock`rollback`;
    lock.release();
  }
  const statuses = (await Promise.all(reads)).toSorted((a, b) => a - b);
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(6);
  expect(new Set(statuses)).toEqual(new Set([200, 503]));
  expect(await read()).toBe(200);
});

it("several tokens of one organization leave a connection to others", async () => {
  const created = await admin("POST", "/organization/tokens", { body: { label: "a second one", role: "developer" } });
  const { token } = (await created.json()) as { token: string };
  const other = newCredential("token");
  const document = await call(sql, "bootstrap", "other", "owner@other.example", other.hash);
  const { organizationId } = JSON.parse(document) as { organizationId: string };
  const lock = await sql.reserve();
  await lock`begin`;
  await lock`lock table svc.webhooks in access exclusive mode`;
  const tokens = [{}, { headers: { Authorization: `Bearer ${token}` } }];
  const reads = tokens.flatMap((by) =>
    Array.from({ length: READS }, () => admin("GET", "/projects/app/webhooks?env=test", by)),
  );
  try {
    await expect.poll(blocked, { timeout: 20_000 }).toBe(7);
    const headers = { Authorization: `Bearer ${other.text}`, "X-Svc-Organization": organizationId };
    expect((await admin("GET", "/projects", { headers })).status).toBe(200);
    expect(await blocked()).toBe(7);
  } finally {
    await lock`rollback`;
    lock.release();
  }
  await Promise.all(reads);
});

const readyz = async () => {
  const reply = await fetch(`${http.address}/readyz`);
  return [reply.status, await reply.json()];
};

it("is not ready while the database's disk is full, until a write succeeds", async () => {
  expect(await readyz()).toMatchObject([200, { status: "ok" }]);
  // As the server raises it when a table cannot grow.
  await changeTriggers(
    sql,
    `create function public.no_room() returns trigger language plpgsql as $$
      begin raise exception 'could not extend file: No space left on device' using errcode = 'disk_full'; end $$`,
    "create trigger no_room before insert on svc.events for each row execute function public.no_room()",
  );
  expect((await send("/v1/events", { customerId: "c", event: "e" })).status).toBe(503);
  const checks = [{ name: "database", message: "The database's disk is full." }];
  expect(await readyz()).toMatchObject([503, { error: { checks } }]);
  await changeTriggers(sql, "drop trigger no_room on svc.events");
  expect((await send("/v1/events", { customerId: "c", event: "e" })).status).toBe(202);
  expect(await readyz()).toMatchObject([200, { status: "ok" }]);
});
