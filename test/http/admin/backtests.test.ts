import { describe, expect, it } from "vitest";
import type { CustomerSamples } from "../../../src/backtest/samples.js";
import { snapshot } from "../../support/service.js";
import { INSTANT, invalid, refused, TEXT, useApi } from "./support/api.js";
import { Models } from "../../../src/evaluation/models.js";
import { evaluateEnvironment } from "../../../src/tasks/evaluate/evaluate-environment.js";
import { count, counted, happened, healthOf, inactiveFor, snapshotOf } from "../../engine/support/builders.js";
import { runLog } from "../../support/run-log.js";
import { JobRunner } from "../../tasks/support/recompute.js";
import { addSamples } from "./support/recomputes.js";

const api = useApi("each");
const { get, post, read, readAll, audit, entry } = api;

interface Backtest {
  id: string;
  from: string;
  to: string;
  end: string;
}

const DAY = 86_400_000;
const ASKED = { outcome: "state:active", within: "30d" };
const deploy = (segment = "chosen") =>
  post("/config-versions", { snapshot: snapshot({ segments: [{ id: segment }] }), force: true });
const queue = async (body: object = ASKED) => {
  const reply = await post("/backtests", body);
  expect(reply, JSON.stringify(reply.body)).toMatchObject({ status: 202 });
  return reply.body as Backtest;
};

describe("POST /projects/:project/backtests", () => {
  it("queues a backtest of the active version over the last year, adds its job, and is recorded", async () => {
    await deploy();
    const began = new Date().toISOString();
    const reply = await post("/backtests", ASKED);
    const job = reply.body as Backtest;
    expect(reply).toMatchObject({
      status: 202,
      body: {
        ...{ ...ASKED, status: "queued", environment: "test", every: "7d", customers: null, traits: "then" },
        model: { configVersion: "v1", hash: expect.stringMatching(/^[0-9a-f]{64}$/) as string },
        ...{ against: null, attempt: 0, nextAttemptAt: null, error: null, report: null },
        progress: { customersTotal: null, customersDone: 0 },
        ...{ requestedBy: "owner@acme.example", requestedAt: INSTANT, startedAt: null, finishedAt: null },
      },
    });
    expect(job.id).toMatch(/^bkt_[0-9a-f]{20}$/);
    expect(job.end >= began && job.end <= new Date().toISOString()).toBe(true);
    expect(job.to).toBe(job.end);
    expect(Date.parse(job.from)).toBe(Math.floor((Date.parse(job.to) - 365 * DAY) / DAY) * DAY);
    expect(reply.headers.get("Location")).toBe(`/projects/${api.slug}/backtests/${job.id}?env=test`);
    expect(await read(`/backtests/${job.id}`)).toEqual(job);
    const [row] = await api.sql`
      select pinned_at = ${job.end}::timestamptz as same from svc.recomputes where recompute_id = ${job.id}`;
    expect(row).toEqual({ same: true });
    const details = { outcome: "state:active", version: "v1", hash: TEXT, against: null, sample: null };
    expect(await audit("backtest")).toEqual([entry("backtest.queued", job.id, details)]);
  });

  it("accepts another version, a snapshot, a version to compare, a sample, and a range", async () => {
    await deploy();
    await deploy("other");
    const range = { every: "1d", from: "2026-01-01", to: "2026-02-01T00:00:00Z", traits: "now", customers: 1000 };
    expect(await queue({ ...ASKED, ...range, version: "v1", against: "v2" })).toMatchObject({
      ...{ model: { configVersion: "v1" }, against: "v2", every: "1d", traits: "now", customers: 1000 },
      ...{ from: "2026-01-01T00:00:00.000Z", to: "2026-02-01T00:00:00.000Z" },
    });
    const model = snapshot({ segments: [{ id: "mine" }] });
    const job = await queue({ outcome: "segment:mine", within: "30d", snapshot: model });
    expect(job).toMatchObject({ model: { configVersion: null } });
    expect((await readAll("/config-versions")).items).toHaveLength(2);
    const [row] = await api.sql`
      select version, snapshot is not null as has from svc.recomputes where recompute_id = ${job.id}`;
    expect(row).toEqual({ version: null, has: true });
  });

  it("refuses invalid requests, with the field and a fix", async () => {
    await deploy();
    const wrong: [field: string, more: object, message?: RegExp][] = [
      ["outcome", { outcome: undefined }],
      ["outcome", { outcome: "state:activ" }, /state "activ".*state:active/],
      ["outcome", { outcome: "active" }],
      ["outcome", { outcome: "segment:nobody" }],
      ["within", { within: "soon" }],
      ["within", { within: "400d" }],
      ["every", { every: "1h" }, /400/],
      ["from", { from: "2026-02-01", to: "2026-01-01" }],
      ["to", { to: "2999-01-01" }],
      ["to", { to: "yesterday" }],
      ["customers", { customers: 0 }],
      ["traits", { traits: "later" }],
      ["version", { version: "latest" }],
      ["version", { version: "v1", snapshot: snapshot() }, /exclude/],
    ];
    for (const [field, more, message] of wrong)
      expect(await post("/backtests", { ...ASKED, ...more }), JSON.stringify(more)).toMatchObject(
        invalid(field, message),
      );
    expect(await post("/backtests", { ...ASKED, snapshot: { formatVersion: 99 } })).toMatchObject(
      refused(422, "CONFIG_INVALID"),
    );
    expect(await read("/backtests")).toMatchObject({ data: [] });
  });

  it("does not find an unknown version, nor an active one before the first deploy", async () => {
    expect(await post("/backtests", ASKED)).toMatchObject(
      refused(404, "VERSION_NOT_FOUND", { fix: "Deploy one, or send version or snapshot." }),
    );
    await deploy();
    for (const more of [{ version: "v9" }, { against: "v9" }])
      expect(await post("/backtests", { ...ASKED, ...more })).toMatchObject(refused(404, "VERSION_NOT_FOUND"));
  });
});

describe("GET /projects/:project/backtests", () => {
  it("lists the environment's backtests only, newest first; the list of recomputes omits them", async () => {
    await deploy();
    const made: Backtest[] = [];
    for (const within of ["10d", "20d", "30d"]) made.unshift(await queue({ ...ASKED, within }));
    expect(await post("/previews", { snapshot: snapshot() })).toMatchObject({ status: 202 });
    expect((await readAll("/backtests?env=test", 2)).items).toEqual(made);
    expect(await read("/backtests?env=live")).toEqual({ data: [], nextCursor: null });
    expect(await read("/recomputes")).toMatchObject({ data: [] });
    const [{ id }] = made as [Backtest];
    expect(await get(`/recomputes/${id}`)).toMatchObject(refused(404, "RECOMPUTE_NOT_FOUND"));
    expect(await get(`/previews/${id}`)).toMatchObject(refused(404, "PREVIEW_NOT_FOUND"));
    expect(await post(`/recomputes/${id}/retry`)).toMatchObject(refused(404, "RECOMPUTE_NOT_FOUND"));
  });
});

it("GET …/backtests/:backtest/samples lists the samples by customer id, page by page", async () => {
  await deploy();
  const { id } = await queue();
  const samples = await addSamples(api.sql, id, ["c3", "a b", "ä", "c1"]);
  const { items, sizes } = await readAll<CustomerSamples>(`/backtests/${id}/samples`, 3);
  expect(sizes).toEqual([3, 1]);
  expect(items).toEqual(["a b", "c1", "c3", "ä"].map((name) => samples.find(({ customerId }) => customerId === name)));
  for (const path of ["bkt_1/samples", "bkt_1", `${id}/samples?env=live`]) {
    expect(await get(`/backtests/${path}`), path).toMatchObject(refused(404, "BACKTEST_NOT_FOUND"));
  }
  expect(await get(`/backtests/${id}/samples?cursor=x`)).toMatchObject(invalid("cursor"));
});

it("a completed backtest has its report, which compares a model that is not deployed with the active one", async () => {
  const model = snapshotOf({
    events: { login: { properties: {} } },
    states: {
      new: [["active", happened("login")]],
      active: [["quiet", inactiveFor("14d")]],
      quiet: [["active", happened("login", { within: "1d" })]],
    },
    segments: { frequent: count("login", "gte", 3, { within: "30d" }) },
    health: healthOf({ use: counted("login", 5, { within: "30d" }) }, { good: 50, poor: 0 }),
    signals: { rare: { when: count("login", "lt", 2, { within: "30d" }) } },
  });
  expect((await post("/config-versions", { snapshot: model })).status).toBe(201);
  const events = Array.from({ length: 400 }, (_, n) => ({
    ...{ customerId: `c${n % 20}`, event: "login" },
    timestamp: new Date(Date.now() - ((n * 37) % (5 + 11 * (n % 20))) * DAY).toISOString(),
  }));
  const headers = { Authorization: `Bearer ${api.keys.test}` };
  expect((await api.service.request("POST", "/v1/events/batch", { headers, body: { events } })).status).toBe(202);
  const dependencies = { sql: api.sql, models: new Models(), settleSeconds: 0, logger: runLog() };
  await evaluateEnvironment(dependencies, await api.environmentId());

  const { id } = await queue({ outcome: "state:quiet", within: "30d", snapshot: model, against: "v1" });
  const runner = new JobRunner(api.service.db);
  await runner.runNext(id);
  await runner.end();
  const one = {
    states: [{ id: "new" }, { id: "active" }, { id: "quiet" }],
    segments: [{ id: "frequent" }],
    signals: [{ id: "rare" }],
    health: { samples: expect.any(Number) as number, components: [{ id: "use" }] },
  };
  expect(await read(`/backtests/${id}`)).toMatchObject({
    status: "completed",
    progress: { customersTotal: 20, customersDone: 20 },
    report: { models: ["local", "v1"].map((name) => ({ name, ...one })), difference: { value: 0 } },
  });
  const [row] = await api.sql`select snapshot::text from svc.recomputes where recompute_id = ${id}`;
  expect(row, "of which no model is kept").toEqual({ snapshot: "{}" });
  const { items } = await readAll<CustomerSamples>(`/backtests/${id}/samples`);
  expect(items.filter(({ outcomes }) => outcomes.length > 0).length).toBeGreaterThan(3);
});
