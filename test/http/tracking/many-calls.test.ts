import { gzipSync } from "node:zlib";
import { beforeEach, expect, it, vi } from "vitest";
import { LargeBodies } from "../../../src/http/request/large-bodies.js";
import { capturedLog } from "../../support/captured-log.js";
import { useIngest } from "../ingest/fixture.js";

// Requests that are short, and long to map or to hold.

/** The share of one key: half of the total. */
const BUDGET = 2_000_000;
const { log, lines } = capturedLog();
const fixture = await useIngest({ log, bodyBytesMax: 2 * BUDGET });
const { sql } = fixture.service.db;
const headers = { Authorization: `Basic ${Buffer.from(`${fixture.keys.test}:`).toString("base64")}` };
const send = (body: string) =>
  fixture.service.request("POST", "/v1/batch", {
    body: gzipSync(body),
    headers: { ...headers, "Content-Type": "application/json", "Content-Encoding": "gzip" },
  });
const batch = (call: unknown, count: number) => `{"batch":[${Array(count).fill(JSON.stringify(call)).join(",")}]}`;
const login = { type: "track", userId: "u", event: "login", properties: { a: 1 } };

/** The names of the jobs of the thread for large bodies. */
const jobs = vi.spyOn(LargeBodies.prototype, "run");
const jobsRun = () => jobs.mock.calls.map(([, name]) => name);
beforeEach(async () => {
  jobs.mockClear();
  await sql`update svc.key_usage set tokens = 100000, refilled_at = now()`;
});
await sql`update iam.plans set rate_burst = 100000`;

it("maps a request with as many calls as SDKs send in the event loop, and one with very many in the thread", async () => {
  expect((await send(batch(login, 250))).body).toEqual({ success: true });
  expect(jobsRun()).toEqual([]);
  expect((await send(batch(login, 2_000))).body).toEqual({ success: true });
  expect(jobsRun()).toEqual(["mapCalls"]);
  expect((await fixture.stored()).events).toBe(2_250);
});

it("releases calls from quarantine in the thread, unless they are few and short", async () => {
  const release = (event: string) =>
    fixture.service.request("POST", "/projects/app/quarantine/release", { by: fixture.owner, body: { event } });
  const properties = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`Name ${n}`, n]));
  await fixture.deploy({ strictSchema: true, events: {} });
  await send(batch({ ...login, event: "short" }, 2));
  await send(batch({ ...login, event: "long", properties }, 1));
  await fixture.deploy({ strictSchema: true, events: { short: { properties: { a: { type: "number" } } } } });
  jobs.mockClear();
  expect((await release("short")).body).toMatchObject({ released: 2, kept: 0 });
  expect(jobsRun()).toEqual([]);
  expect((await release("long")).body).toMatchObject({ released: 0, kept: 1 });
  expect(jobsRun()).toEqual(["mapKeptCalls"]);
});

it("counts what calls become in the memory for bodies: a call of two bytes is an element of hundreds", async () => {
  const before = await fixture.stored();
  const reason = "This key has used up its share of the process's memory for request bodies.";
  expect(await send(batch({}, 20_000))).toMatchObject({
    status: 503,
    body: { code: "SERVICE_UNAVAILABLE", error: { reason } },
  });
  expect(await fixture.stored()).toEqual(before);
  expect((await send(batch({}, 5_000))).body).toEqual({ success: true, quarantined: 5_000 });
});

it("lists the first thousand refused calls, and logs how many there are", async () => {
  const { status, body } = await send(batch(0, 40_000));
  const { refused } = body as { refused: { index: number }[] };
  expect([status, refused.length, refused.at(-1)?.index]).toEqual([200, 1_000, 999]);
  expect(lines.find(({ msg }) => msg === "calls were refused")).toMatchObject({ refused: 40_000 });
});

it("renames no property whose name is longer than any declared one", async () => {
  await fixture.deploy({ strictSchema: true, events: { spelt: { properties: { a_b: { type: "number" } } } } });
  const long = `${" ".repeat(1_024)}aB`;
  expect((await send(batch({ ...login, event: "spelt", properties: { aB: 1 } }, 1))).body).toEqual({ success: true });
  const reply = await send(batch({ ...login, event: "spelt", properties: { [long]: 1 } }, 1));
  expect(reply.body).toEqual({ success: true, quarantined: 1 });
});
