import { once } from "node:events";
import { connect as connectSocket } from "node:net";
import { text } from "node:stream/consumers";
import type { Sql } from "postgres";
import { beforeAll, expect, it, vi } from "vitest";
import { connect } from "../../../src/db/connect.js";
import { createCustomerWork } from "../../../src/http/admin/slow-work.js";
import { streamExport } from "../../../src/http/admin/customer-data.js";
import { hashCredential } from "../../../src/http/request/credentials.js";
import type { Health } from "../../../src/model/snapshot/types.js";
import { useSpec } from "../../spec/support/fixture.js";
import { environmentId, snapshot } from "../../support/service.js";
import { headOf } from "../ingest/raw-connection.js";
import { INSTANT, refused } from "./support/api.js";

const EVENT_ID = expect.stringMatching(/^evt_[0-9a-f]{16}$/) as string;
const EMISSION_ID = expect.stringMatching(/^emi_[0-9a-f]{16}$/) as string;

const fixture = useSpec();
let sql: Sql;
let environment: number;
const get = (customer: string) =>
  fixture.admin("GET", `/projects/app/customers/${encodeURIComponent(customer)}/export`);
const login = (customerId: string, more: object = {}) => ({ customerId, event: "login", ...more });
const credentials = () => ({
  Authorization: `Bearer ${fixture.owner.token}`,
  "X-Svc-Organization": fixture.owner.organizationId,
});
const exportOf = (customer: string, init: RequestInit = {}) =>
  fetch(`${fixture.service.url}/projects/app/customers/${customer}/export`, { headers: credentials(), ...init });
/** Requests an export without reading it. */
const ignore = (customer: string) => {
  const socket = connectSocket(Number(new URL(fixture.service.url).port), "127.0.0.1");
  socket.pause();
  socket.on("error", () => undefined); // a reset ends it as well
  socket.write(headOf(`GET /projects/app/customers/${customer}/export HTTP/1.1`, { Host: "svc", ...credentials() }));
  return socket;
};
/** The sessions with exports in progress. */
const exporting = (since = "0") => sql<{ pid: number }[]>`
  select pid from pg_stat_activity
  where datname = current_database() and application_name = 'svc test http work' and state <> 'idle'
    and state_change <= now() - ${since}::interval`;

beforeAll(async () => {
  sql = fixture.service.db.sql;
  environment = await environmentId(sql, "app", "test");
  const logins = { kind: "count", of: { event: "login" } } as const;
  const health: Health = {
    components: [{ id: "usage", weight: 1, score: { kind: "scale", of: logins, from: 0, to: 1 } }],
    bands: [
      { id: "good", from: 50 },
      { id: "poor", from: 0 },
    ],
  };
  await fixture.deploy(snapshot({ strictSchema: false, health }));
});

it("holds everything that is known about a customer, in one document", async () => {
  await sql`
    insert into svc.webhooks (environment_id, webhook_id, url, event_types, sealed_secret)
    values (${environment}, 'whk_1', 'https://receiver.example/hook', '{customer.*}', '')`;
  await fixture.batch([
    login("ann", { properties: { seats: 3 }, timestamp: "2026-03-01T10:00:00Z", idempotencyKey: "k1" }),
    { type: "identify", customerId: "ann", traits: { plan: "pro" } },
  ]);
  await fixture.evaluate();
  await fixture.batch([login("ann")]);
  await sql`
    insert into svc.recomputes (
      environment_id, recompute_id, kind, customer_id, pinned_at, status, requested_by, requested_at, finished_at, snapshot, hash
    )
    values
      (${environment}, 'rec_2', 'recompute', null, now(), 'completed', 'a@b', '2026-03-03Z', now(), null, null),
      (${environment}, 'prv_1', 'preview', null, now(), 'completed', 'a@b', '2026-03-04Z', now(), '{}', ''),
      (${environment}, 'rec_1', 'dry_run', 'ann', now(), 'queued', 'a@b', '2026-03-05Z', null, null, null),
      (${environment}, 'rec_3', 'recompute', 'bob', now(), 'queued', 'a@b', '2026-03-06Z', null, null, null),
      (${environment}, 'rec_4', 'recompute', null, now(), 'completed', 'a@b', '2026-03-07Z', now(), null, null)`;
  await sql`
    insert into svc.retired_keys (environment_id, retired_at, event_seq, customer_id, idempotency_key)
    values (${environment}, '2026-03-08Z', 1, 'ann', 'k0'), (${environment}, '2026-03-08Z', 2, 'bob', 'k00')`;
  await sql`
    insert into svc.recompute_customers (environment_id, recompute_id, customer_id, weight, difference)
    values
      (${environment}, 'rec_2', 'ann', 1, '{"customerId": "ann", "rules": [{"n": 1.50}]}'),
      (${environment}, 'rec_2', 'bob', 1, '{"customerId": "bob"}'),
      (${environment}, 'prv_1', 'ann', 1, '{"customerId": "ann"}')`;
  await sql`
    insert into svc.delivery_attempts
    select environment_id, webhook_id, emission_seq, 1, '2026-03-02Z', 12, 500, null, 'no' from svc.deliveries
    where environment_id = ${environment} order by emission_seq limit 1`;

  const reply = await get("ann");
  expect(reply.status).toBe(200);
  expect(Object.fromEntries(reply.headers)).toMatchObject({
    "content-type": "application/json; charset=utf-8",
    "content-disposition": 'attachment; filename="customer-ann.json"',
    "cache-control": "no-store",
  });
  const cause = { type: expect.any(String) as string, id: expect.toBeOneOf([null, EVENT_ID]) as null };
  const derived = { at: INSTANT, cause, configVersion: "v1" };
  const event = { eventId: EVENT_ID, id: EVENT_ID, event: "login", acceptedAt: INSTANT };
  const sent = { properties: { seats: 3 }, occurredAt: "2026-03-01T10:00:00.000Z", idempotencyKey: "k1" };
  const typed = { eventType: "customer.active", type: "customer.active" };
  const active = { id: EMISSION_ID, ...typed, source: "lifecycle", ...derived, timestamp: INSTANT };
  const none = { blockedTransitions: [], journeyRuns: [], ruleExecutions: [], signals: [] };
  const changed = { customerId: "ann", rules: [{ n: 1.5 }] };
  const recompute = (recomputeId: string, kind: string, day: string, difference: object | null) => {
    return { recomputeId, kind, at: `2026-03-${day}T00:00:00.000Z`, difference };
  };
  expect(reply.body).toEqual({
    customerId: "ann",
    environment: "test",
    exportedAt: INSTANT,
    customer: await fixture.customer("ann"),
    generation: 0,
    setAside: null,
    ...none,
    evaluation: expect.objectContaining({
      segments: { paying: expect.any(Number) as number },
    }) as object,
    identifies: [{ acceptedAt: INSTANT, traits: { plan: "pro" }, status: "processed" }],
    events: [
      { ...event, ...sent, status: "processed" },
      { ...event, properties: {}, occurredAt: INSTANT, idempotencyKey: null, status: "pending" },
    ],
    transitions: [
      { from: null, to: "new", ...derived, generation: 0 },
      { from: "new", to: "active", ...derived, generation: 0 },
    ],
    memberships: [{ segment: "paying", enteredAt: INSTANT, exitedAt: null }],
    healthScores: [{ overall: 100, components: { usage: 100 }, band: "good", ...derived, generation: 0 }],
    emissions: expect.arrayContaining([
      { ...active, metadata: { previous_lifecycle: "new", new_lifecycle: "active" } },
    ]) as object[],
    deliveries: expect.any(Array) as object[],
    recomputes: [
      recompute("rec_2", "recompute", "03", changed),
      recompute("prv_1", "preview", "04", { customerId: "ann" }),
      recompute("rec_1", "dry_run", "05", null),
    ],
    quarantined: [],
    retiredKeys: [expect.objectContaining({ eventId: "evt_0000000000000001", idempotencyKey: "k0" })],
  });
  const { deliveries } = reply.body as { deliveries: object[] };
  const attempt = { attempt: 1, at: "2026-03-02T00:00:00.000Z", latencyMs: 12, statusCode: 500, error: null };
  expect(deliveries[0]).toEqual({
    ...{ id: EMISSION_ID, webhookId: "whk_1", url: "https://receiver.example/…", status: "pending" },
    nextAttemptAt: INSTANT,
    finishedAt: null,
    body: null,
    attempts: [{ ...attempt, response: "no" }],
  });
  // The audit log has no customer id.
  const rows = await sql`
    select project, environment, target, details, request_id from iam.audit_log where action = 'customer.exported'`;
  expect(rows).toEqual([{ project: "app", environment: "test", target: null, details: {}, request_id: "req" }]);
});

it("holds superseded records of recomputes, marked as such, and all recomputes, even if they exceed one part", async () => {
  await sql`
    insert into svc.lifecycle_transitions (environment_id, customer_id, to_state, transitioned_at, cause_type, generation)
    values (${environment}, 'ann', 'new', now(), 'job', 1)`;
  await sql`update svc.customers set generation = 1 where environment_id = ${environment} and customer_id = 'ann'`;
  await sql`
    insert into svc.recomputes (environment_id, recompute_id, kind, pinned_at, status, requested_by, finished_at)
    select ${environment}, 'rec_often_' || n, 'recompute', now(), 'completed', 'a@b', now() from generate_series(1, 30) as n order by n`;
  await sql`
    insert into svc.recompute_customers (environment_id, recompute_id, customer_id, weight, difference)
    select ${environment}, 'rec_often_' || n, 'ann', 1, '{}' from generate_series(1, 30) as n`;
  const { body } = await get("ann");
  expect(body).toMatchObject({ generation: 1, transitions: [{ generation: 0 }, { generation: 0 }, { generation: 1 }] });
  const { recomputes } = body as { recomputes: { recomputeId: string }[] };
  const often = Array.from({ length: 30 }, (_, n) => `rec_often_${n + 1}`);
  expect(recomputes.map(({ recomputeId }) => recomputeId).slice(-30)).toEqual(often);
});

it("keeps numbers that JavaScript would round", async () => {
  await fixture.post(
    "/v1/events/batch",
    '{"events":[{"customerId":"exact","event":"login","properties":{"seats":12345678901234567890}}]}',
  );
  const response = await exportOf("exact");
  expect(await response.text()).toContain('"properties" : {"seats": 12345678901234567890}');
});

it("holds the pending operations of a customer that was never evaluated, and answers 404 for an unknown one", async () => {
  await fixture.batch([login("bob")]);
  expect(await get("bob")).toMatchObject({
    status: 200,
    body: { customer: null, generation: null, events: [{ status: "pending" }] },
  });
  const reply = await get("nobody");
  expect(reply).toMatchObject(refused(404, "CUSTOMER_NOT_FOUND"));
  expect(reply.headers.get("Content-Disposition")).toBeNull();
});

it("has a file name that is harmless to shells, headers and file systems", async () => {
  const customer = '../a"\r\nX: b; ä\\' + "x".repeat(200);
  await fixture.batch([login(customer)]);
  const reply = await get(customer);
  expect(reply.status).toBe(200);
  expect(reply.headers.get("Content-Disposition")).toMatch(
    /^attachment; filename="customer-\.\._a___X__b____x{47,}\.json"$/,
  );
});

it("is read at the client's pace, from one snapshot, in parts", async () => {
  await fixture.batch([login("large")]);
  await sql`
    insert into svc.events
    select ${environment}, 1000000 + n, 'large', 'login', jsonb_build_object('n', n, 'text', repeat('x', 400)), '2020-01-01', '2020-01-01'
    from generate_series(1, 8000) as n`;
  const work = createCustomerWork(
    connect(fixture.service.db.url, { max: 2, applicationName: "svc test export", role: "svc_http" }),
  );
  const { token, organizationId } = fixture.owner;
  const by = { tokenHash: hashCredential(token), organizationId, requestId: "req" };
  const stream = await streamExport(work, by, { project: "app", environment: "test" }, "large");
  // A later event is not in it.
  await fixture.batch([login("large")]);
  expect(stream.readableLength).toBeLessThan(1024 * 1024);
  const document = JSON.parse(await text(stream)) as { events: { properties: { n?: number } }[] };
  const numbers = Array.from({ length: 8_000 }, (_, n) => n + 1);
  expect(document.events.map(({ properties }) => properties.n)).toEqual([...numbers, undefined]);
  await work.sql.end();
});

it("breaks the connection if it cannot be read to the end", async () => {
  await fixture.batch([login("huge")]);
  // More than a connection's buffers hold.
  await sql`
    insert into svc.events
    select ${environment}, 2000000 + n, 'huge', 'login', jsonb_build_object('text', repeat('x', 60000)), '2020-01-01', '2020-01-01'
    from generate_series(1, 500) as n`;
  const socket = ignore("huge");
  // The reader does not read, so the export waits for it.
  await expect.poll(async () => (await exporting("0.5 seconds")).length, { timeout: 10_000 }).toBe(1);
  await sql`select pg_terminate_backend(${(await exporting())[0]!.pid}::integer)`;
  const closed = once(socket, "close");
  let received = "";
  socket.setEncoding("utf8").on("data", (part: string) => (received += part));
  socket.resume();
  await closed;
  expect(received).toMatch(/^HTTP\/1\.1 200 /);
  expect(received).not.toMatch(/\r\n0\r\n\r\n$/);
  expect(received).not.toContain('"deliveries"');
});

it("of an organization that leaves many unread does not block other organizations", async () => {
  const exportCount = async () => (await sql`select from iam.audit_log where action = 'customer.exported'`).length;
  const before = await exportCount();
  const sockets = Array.from({ length: 4 }, () => ignore("huge"));
  try {
    await expect.poll(async () => (await exportCount()) - before, { timeout: 10_000 }).toBe(4);
    const other = await fixture.service.owner("patient");
    await fixture.service.request("POST", "/projects", { by: other, body: { name: "App", slug: "patient" } });
    await sql`
      insert into svc.customers (environment_id, customer_id, created_at)
      values (${await environmentId(sql, "patient", "test")}, 'small', now())`;
    const path = "/projects/patient/customers/small/export";
    expect((await fixture.service.request("GET", path, { by: other })).status).toBe(200);
  } finally {
    for (const socket of sockets) socket.destroy();
  }
});

it("frees its place and its connection when the reader disconnects", async () => {
  // Those that the test before has left may still be ending.
  await expect.poll(async () => (await get("bob")).status, { timeout: 30_000 }).toBe(200);
  for (let n = 0; n < 2; n++) {
    const stop = new AbortController();
    expect((await exportOf("huge", { signal: stop.signal })).status).toBe(200);
    stop.abort();
    await vi.waitUntil(async () => (await exporting()).length === 0, { timeout: 30_000 });
  }
  expect(await get("bob")).toMatchObject({ status: 200 });
});

it("frees its place and its connection when a reader disconnects whose export waits behind another answer", async () => {
  const socket = connectSocket(Number(new URL(fixture.service.url).port), "127.0.0.1");
  const head = (path: string) => headOf(`GET /projects/app/${path} HTTP/1.1`, { Host: "svc", ...credentials() });
  // A stream of events never ends.
  socket.write(`${head("events/stream?env=test")}${head("customers/large/export")}`);
  await expect.poll(async () => (await exporting("100ms")).length, { timeout: 30_000 }).toBe(1);
  socket.destroy();
  await expect.poll(async () => (await exporting()).length, { timeout: 30_000 }).toBe(0);
  expect(await (await exportOf("large")).json()).toMatchObject({ customerId: "large" });
});

it("frees its place and its connection when such a reader disconnects before the export begins", async () => {
  const socket = connectSocket(Number(new URL(fixture.service.url).port), "127.0.0.1");
  const head = (path: string) => headOf(`GET /projects/app/${path} HTTP/1.1`, { Host: "svc", ...credentials() });
  await sql.begin(async (tx) => {
    // The export waits for the customer.
    await tx`lock table svc.customers in access exclusive mode`;
    socket.write(`${head("events/stream?env=test")}${head("customers/large/export")}`);
    await expect.poll(async () => (await exporting()).length, { timeout: 30_000 }).toBe(1);
    socket.destroy();
    // The service has noticed by the next answer.
    expect((await fixture.admin("GET", "/projects")).status).toBe(200);
  });
  await expect.poll(async () => (await exporting()).length, { timeout: 30_000 }).toBe(0);
});

it("causes no leak warning of Node.js", async () => {
  const warnings: string[] = [];
  const note = ({ name }: Error) => warnings.push(name);
  process.on("warning", note);
  expect(await get("bob")).toMatchObject({ status: 200 });
  await new Promise(setImmediate);
  process.off("warning", note);
  expect(warnings).toEqual([]);
});
