import { rm } from "node:fs/promises";
import { afterAll, expect, it } from "vitest";
import { PROJECT_ROOT, readCommitted } from "../../../src/db/migrate/files.js";
import { refused, runServer } from "../../server/support/run-server.js";
import { createDatabase } from "../../support/database.js";
import { startServiceProcess, type ServiceProcess } from "../../support/service-process.js";
import { snapshot } from "../../support/service.js";
import { createTenant } from "../../support/tenant.js";
import { Load } from "./load.js";
import { makeNextVersion } from "./next-version.js";

// The next version starts next to the present one, on a database in use.

/** Acknowledged operations in each phase. */
const ENOUGH = 500;

const running: ServiceProcess[] = [];

const db = await createDatabase();
const { sql } = db;
const next = await makeNextVersion();
afterAll(async () => {
  await Promise.all(running.map((service) => service.stop()));
  await db.drop();
  await rm(next, { recursive: true, force: true });
});

async function start(root: string): Promise<ServiceProcess> {
  const service = await startServiceProcess(db.url, { SVC_SETTLE_SECONDS: "0" }, { root });
  running.push(service);
  return service;
}

// On a busy machine, the load and two services share the resources.
it(
  "loses, duplicates and refuses nothing while the next version migrates and takes over",
  { timeout: 180_000 },
  async () => {
    const old = await start(PROJECT_ROOT);
    const { admin, keys } = await createTenant(sql, old.url);
    await admin("POST", "/projects/app/config-versions?env=test", { body: { snapshot: snapshot() } });
    const load = new Load(keys.test);
    load.sendTo(old.url);
    await load.acknowledged(ENOUGH);

    const fresh = await start(next);
    expect(await ledger()).toEqual((await readCommitted(next)).map(({ filename }) => filename));
    load.sendTo(old.url, fresh.url);
    await load.acknowledged(ENOUGH);

    load.sendTo(fresh.url);
    expect(load.repeated, "nobody was cut off before the old version ended").toBe(0);
    expect(await old.end()).toBe(0);
    await load.acknowledged(ENOUGH);
    const sent = await load.stop();

    expect(load.failures).toEqual([]);
    await expect.poll(pending, { timeout: 30_000 }).toBe(0);
    const [stored] = await sql`
    select
      (select count(*)::int from svc.events) as events,
      (select count(*)::int from svc.idempotency_keys) as keys,
      (select count(*)::int from svc.customers where lifecycle = 'active') as customers,
      (select count(*)::int from svc.emissions where event_type = 'customer.created') as created,
      (select count(*)::int from svc.customers where set_aside_at is not null) as set_aside`;
    const { events, customers } = sent;
    expect(stored).toEqual({ events, keys: events, customers, created: customers, set_aside: 0 });
    const kept = await sql<{ key: string }[]>`select idempotency_key as key from svc.idempotency_keys`;
    const known = new Set(kept.map(({ key }) => key));
    expect(sent.keys.filter((key) => !known.has(key))).toEqual([]);
  },
);

it("a version older than the database reports this in one line, and ends", async () => {
  const last = (await readCommitted(next)).at(-1)!.filename;
  const known = (await readCommitted(PROJECT_ROOT)).at(-1)!.filename;
  const line =
    `the database is newer than this program: it has migration ${last}, the newest known here is ${known}; ` +
    "install the version that made it, or a later one";
  for (const command of [["start", "--role", "http"], ["migrate"]])
    expect(await runServer(db.url, command, { SVC_PORT: "0", SVC_SECRET: "x".repeat(32) })).toEqual(refused(line));
});

async function ledger(): Promise<string[]> {
  const rows = await sql<{ filename: string }[]>`select filename from graphile_migrate.migrations order by filename`;
  return rows.map(({ filename }) => filename);
}

async function pending(): Promise<number> {
  return (await sql<[{ n: number }]>`select count(*)::int as n from svc.inbox`)[0].n;
}
