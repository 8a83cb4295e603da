import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { call } from "../../src/db/api/call.js";
import { renderInstallation } from "../../src/metrics/installation.js";
import { readConfig } from "../../src/server/config.js";
import { openHttp } from "../../src/server/http-role.js";
import { withoutDatabase } from "../spec/support/outage.js";
import { INSTALL_MS_MAX, installed } from "../support/debian.js";
import { runLog } from "../support/run-log.js";
import { startReceiver, statuses, type Receiver } from "../webhooks/support/receiver.js";
import { METRICS_TOKEN, readSamples, startObserved, type Observed } from "./support/observed.js";

/** Ids and names that the tests send, and that no metric may contain. */
const CUSTOMER = "customer-that-no-figure-names";
const EVENT = "event_that_no_figure_names";

let observed: Observed;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver(statuses(500, 200));
  observed = await startObserved({
    events: { [EVENT]: { properties: {} } },
    segments: [{ id: "all", when: { kind: "count", of: { event: EVENT }, operator: "gte", value: 1 } }],
  });
  const { fixture } = observed;
  const { status } = await fixture.service.request("POST", "/projects/app/webhooks", {
    by: fixture.owner,
    body: { url: receiver.url, eventTypes: ["*"] },
  });
  expect(status).toBe(201);
  await observed.send([
    { customerId: CUSTOMER, event: EVENT, idempotencyKey: "once" },
    { customerId: CUSTOMER, event: EVENT },
    { type: "identify", customerId: CUSTOMER, traits: { plan: "pro" } },
  ]);
});
afterAll(async () => {
  await observed.stop();
  await receiver.close();
});

const metrics = (headers: Record<string, string> = {}) => fetch(`${observed.http.address}/metrics`, { headers });

describe("GET /metrics", () => {
  it.each([
    ["another token", () => `Bearer ${METRICS_TOKEN}x`],
    ["a part of the token", () => `Bearer ${METRICS_TOKEN.slice(0, -1)}`],
    ["the token in another way", () => `Basic ${METRICS_TOKEN}`],
  ])("refuses %s", async (_, authorization) => {
    const response = await metrics({ Authorization: authorization() });
    expect([response.status, response.headers.get("WWW-Authenticate")]).toEqual([401, "Bearer"]);
    expect(await response.json()).toMatchObject({ error: { code: "INVALID_METRICS_TOKEN" } });
  });

  it("refuses every request if the service has no token, and says how to set one", async () => {
    const headers = { Authorization: "Bearer null" };
    const reply = await observed.fixture.service.request("GET", "/metrics", { headers });
    const fix = "Set SVC_METRICS_TOKEN for the service, start it again, and send `Authorization: Bearer <token>`.";
    expect(reply).toMatchObject({ status: 401, body: { error: { code: "INVALID_METRICS_TOKEN", fix } } });
  });

  it("counts requests by the pattern of their route and the class of the status", async () => {
    const { http, value } = observed;
    await fetch(`${http.address}/projects/app/customers/${CUSTOMER}`);
    await fetch(`${http.address}/projects/app/customers/another`);
    const labels = { method: "GET", route: "/projects/:project/customers/:customerId", status: "4xx" };
    await expect.poll(() => value("svc_http_requests_total", labels)).toBe(2);
    const { status: _, ...route } = labels;
    expect(await value("svc_http_request_duration_seconds_count", route)).toBe(2);
    // Those without a route together.
    await fetch(`${http.address}/${CUSTOMER}`, { method: "PROPFIND" });
    const unknown = { method: "other", route: "none", status: "4xx" };
    await expect.poll(() => value("svc_http_requests_total", unknown)).toBe(1);
  });

  it("counts accepted and repeated operations, and refused requests by code", async () => {
    const { http, fixture, value, send } = observed;
    const operations = (outcome: string) => value("svc_ingest_operations_total", { outcome });
    const [accepted, repeated] = [await operations("accepted"), await operations("repeated")];
    expect(accepted).toBeGreaterThanOrEqual(3);
    const again = { customerId: CUSTOMER, event: EVENT, idempotencyKey: "twice in a call" };
    await send([{ customerId: CUSTOMER, event: EVENT, idempotencyKey: "once" }, again, again]);
    expect(await operations("accepted")).toBe(accepted! + 1);
    expect(await operations("repeated")).toBe(repeated! + 2);
    const headers = { Authorization: `Bearer ${fixture.keys.test}`, "Content-Type": "application/json" };
    const single = (body: object) =>
      fetch(`${http.address}/v1/events`, { method: "POST", headers, body: JSON.stringify(body) });
    await single({ customerId: CUSTOMER, event: EVENT, idempotencyKey: "once" });
    expect(await operations("repeated")).toBe(repeated! + 3);
    await single({ customerId: "" });
    expect(await value("svc_ingest_refusals_total", { code: "VALIDATION_ERROR" })).toBe(1);
    await fetch(`${http.address}/v1/events`, { method: "POST" });
    expect(await value("svc_ingest_refusals_total", { code: "INVALID_API_KEY" })).toBe(1);
  });

  it("reports ingestion's calls, bodies, connections and the event loop", async () => {
    const { value } = observed;
    for (const kind of ["single", "batch"]) {
      expect(await value("svc_ingest_waiting_requests", { kind })).toBe(0);
      expect(await value("svc_ingest_running_calls", { kind })).toBe(0);
    }
    expect(await value("svc_request_body_bytes", { bytes: "held" })).toBe(0);
    expect(await value("svc_database_pool_connections", { connections: "open" })).toBeGreaterThan(0);
    expect(await value("svc_database_pool_connections", { connections: "limit" })).toBe(22);
    expect(await value("nodejs_eventloop_lag_p99_seconds")).toBeGreaterThanOrEqual(0);
    expect(await value("process_resident_memory_bytes")).toBeGreaterThan(10_000_000);
  });

  it("shows the counts of workers, whichever process they run in", async () => {
    const { value } = observed;
    // Workers add their counts every ten seconds.
    await expect.poll(() => value("svc_evaluated_operations_total"), { timeout: 30_000 }).toBeGreaterThanOrEqual(3);
    const count = await value("svc_ingest_to_evaluated_seconds_count");
    expect(count).toBe(await value("svc_evaluated_operations_total"));
    expect(await value("svc_ingest_to_evaluated_seconds_bucket", { le: "+Inf" })).toBe(count);
    expect(await value("svc_ingest_to_evaluated_seconds_bucket", { le: "60" })).toBe(count);
    expect(await value("svc_ingest_to_evaluated_seconds_sum")).toBeGreaterThan(0);
    expect(await value("svc_finished_jobs_total", { task: "evaluate", outcome: "done" })).toBeGreaterThan(0);
    expect(await value("svc_tick_duration_seconds_count")).toBeGreaterThan(0);
    await expect.poll(() => value("svc_webhook_attempts_total", { outcome: "refused" }), { timeout: 30_000 }).toBe(1);
  });

  it("has every metric of the installation", async () => {
    const namesIn = (text: string) => [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name);
    const names = namesIn(await renderInstallation(await call(observed.fixture.service.db.sql, "metrics")));
    expect(names.length).toBeGreaterThan(15);
    const shown = namesIn(await observed.text());
    expect(shown).toEqual(expect.arrayContaining(names));
    expect(new Set(shown).size).toBe(shown.length);
    expect(await observed.value("svc_database_up")).toBe(1);
    expect(await observed.value("svc_workers")).toBe(1);
    expect(await observed.value("svc_database_connections", { application: "svc metrics" })).toBe(2);
  });

  it("reports that the database does not answer, and still shows the process", async () => {
    const { fixture, value } = observed;
    await withoutDatabase(fixture.service.db, async () => {
      await expect.poll(() => value("svc_database_up")).toBe(0);
      expect(await value("svc_workers")).toBeUndefined();
      expect(await value("svc_ingest_operations_total", { outcome: "accepted" })).toBeGreaterThan(0);
    });
    await expect.poll(() => value("svc_database_up")).toBe(1);
  });

  it.each([
    ["are locked", null, { code: "55P03", message: "canceling statement due to lock timeout" }],
    ["take too long", "1min", { code: "57014", message: "canceling statement due to statement timeout" }],
  ])("reports that the database answers even if the figures %s, and logs the reason", async (_, patience, err) => {
    const { fixture, scrape, logged } = observed;
    const { sql } = fixture.service.db;
    if (patience !== null) await sql.unsafe(`alter function svc_api.metrics() set lock_timeout = '${patience}'`);
    logged.length = 0;
    await sql.begin(async (tx) => {
      await tx`lock table svc.webhooks in access exclusive mode`;
      const samples = await scrape();
      const valueOf = (name: string) => samples.find((sample) => sample.name === name)?.value;
      expect([valueOf("svc_database_up"), valueOf("svc_workers")]).toEqual([1, undefined]);
    });
    const msg = "the metrics of the installation could not be read";
    expect(logged.filter((line) => line["msg"] === msg)).toMatchObject([{ level: "warn", err }]);
    if (patience !== null) await sql`alter function svc_api.metrics() set lock_timeout = '3s'`;
  });

  it("omits the database before the service has started, and has the text format 0.0.4", async () => {
    const { config } = readConfig({ SVC_PORT: "0", SVC_METRICS_TOKEN: METRICS_TOKEN });
    const starting = await openHttp(config, runLog());
    try {
      const headers = { Authorization: `bearer ${METRICS_TOKEN}` };
      const response = await fetch(`${starting.address}/metrics`, { headers });
      expect(response.headers.get("Content-Type")).toBe("text/plain; version=0.0.4; charset=utf-8");
      const names = readSamples(await response.text()).map(({ name }) => name);
      expect(names).toContain("svc_build_info");
      expect(names).not.toContain("svc_database_up");
    } finally {
      await starting.stop();
    }
  });

  it("names no customer, event, project, organization or environment", async () => {
    const text = await observed.text();
    const { fixture } = observed;
    const [{ webhookId }] = await fixture.service.db.sql<[{ webhookId: string }]>`
      select webhook_id as "webhookId" from svc.webhooks`;
    for (const name of [
      CUSTOMER,
      EVENT,
      "acme",
      fixture.owner.organizationId,
      webhookId,
      `:${new URL(receiver.url).port}`,
    ]) {
      expect(text).not.toContain(name);
    }
    expect(text).not.toMatch(/"(app|test|live)"/);
    const labels = readSamples(text).flatMap(({ name, labels: of }) => (/^svc_/.test(name) ? Object.keys(of) : []));
    const allowed =
      "application bytes code connections customers kind le method outcome route state status task version";
    expect(allowed.split(" ")).toEqual(expect.arrayContaining(labels));
  });

  it("passes promtool check metrics", { timeout: INSTALL_MS_MAX }, async (context) => {
    const missing = await installed("/usr/bin/promtool", ["prometheus"]);
    if (missing !== null) context.skip(missing);
    const input = await observed.text();
    expect(execFileSync("/usr/bin/promtool", ["check", "metrics"], { input, encoding: "utf8" })).toBe("");
  });
});
