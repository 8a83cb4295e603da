import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import path from "node:path";
import { afterAll, expect, inject, it } from "vitest";
import { useDatabase } from "../support/database.js";
import { PLANTED, searchLogs } from "../support/leaks.js";
import { listen } from "../support/listen.js";
import { startServiceProcess } from "../support/service-process.js";
import { snapshot } from "../support/service.js";
import { createTenant } from "../support/tenant.js";

/** A webhook receiver whose answer must not be logged. */
const receiver = createServer((_, response) => {
  called += 1;
  response.writeHead(500).end(`the secret is ${PLANTED}`);
});
let called = 0;

const url = await listen(receiver);
const db = await useDatabase();
const { sql } = db;
const service = await startServiceProcess(db.url, {
  SVC_SECRET: `a secret of the tests: ${PLANTED}`,
  SVC_METRICS_TOKEN: `${PLANTED}-of-metrics`,
  SVC_SETTLE_SECONDS: "0",
  SVC_WEBHOOK_ALLOW_PRIVATE: "1",
});
const { admin, send: request } = await createTenant(sql, service.url);
afterAll(async () => {
  await service.stop();
  receiver.close();
});

async function send(body: unknown, Authorization?: string): Promise<number> {
  const headers = Authorization === undefined ? {} : { Authorization };
  return (await request("/v1/events/batch", body, { headers })).status;
}

const login = (customerId: string, properties: object = {}) => ({
  customerId,
  event: "login",
  properties,
  timestamp: new Date().toISOString(),
});

/** The log of the service so far. */
async function log(): Promise<string> {
  return readFile(path.join(inject("logs"), `service-${service.pid}-${process.pid}.log`), "utf8");
}

it("the log of a service never contains secrets, properties, traits, queries or e-mail addresses", async () => {
  const model = snapshot({ strictSchema: false, rules: [] });
  const make = async (what: string, body: object) =>
    expect((await admin("POST", `/projects/app/${what}?env=test`, { body })).status).toBe(201);
  await make("config-versions", { snapshot: model });
  await make("webhooks", { url: `${url}/${PLANTED}?token=${PLANTED}`, eventTypes: ["*"] });

  // Accepted, evaluated and delivered.
  const traits = { type: "identify", customerId: PLANTED, traits: { plan: "pro", note: PLANTED } };
  const event = { ...login(PLANTED, { seats: PLANTED }), idempotencyKey: PLANTED };
  expect(await send({ events: [traits, event] })).toBe(202);
  await expect.poll(() => called, { timeout: 20_000 }).toBeGreaterThan(0);

  // Refused.
  expect(await send(`{"events": [{"customerId": "${PLANTED}`)).toBe(400);
  expect(await send({ events: [{ ...login(PLANTED), customerId: { note: PLANTED } }] })).toBe(400);
  expect(await send({ events: [] }, `Bearer svc_test_${PLANTED}`)).toBe(401);
  expect(await send({ events: [] }, `Basic ${PLANTED}`)).toBe(401);
  for (const address of [PLANTED, `projects/app/customers/${PLANTED}-2?env=test`, `projects?cursor=${PLANTED}`])
    expect((await admin("GET", `/${address}`)).status).toBeGreaterThanOrEqual(400);
  const scrape = await fetch(`${service.url}/metrics`, { headers: { Authorization: `Bearer ${PLANTED}-2` } });
  expect(scrape.status).toBe(401);
  const form = new URLSearchParams({ email: `${PLANTED}@acme.example`, password: PLANTED });
  await fetch(`${service.url}/login?next=/${PLANTED}`, { method: "POST", body: form });
  await fetch(`${service.url}/oauth/token`, { method: "POST", body: new URLSearchParams({ device_code: PLANTED }) });
  await fetch(`${service.url}/password?token=${PLANTED}`);

  // Refusals of the database that quote the row, in a request and in evaluation.
  await sql`alter table svc.trait_updates add constraint refuse check (traits ->> 'note' is null) not valid`;
  await sql`alter table svc.customers add constraint refuse check (customer_id not like '%-3') not valid`;
  expect(await send({ events: [traits] })).toBe(500);
  expect(await send({ events: [login(`${PLANTED}-3`, { seats: PLANTED })] })).toBe(202);
  await expect.poll(log, { timeout: 30_000 }).toMatch(/"level":"error".*new row for relation \\"customers/);

  const text = await log();
  expect(text).toContain('"route":"/v1/events/batch","status":500');
  expect(text).toContain("violates check constraint");
  expect(text.split("\n").length).toBeGreaterThan(15);
  expect((await searchLogs(inject("logs"))).filter(({ file }) => file.includes(`-${service.pid}-`))).toEqual([]);
});
