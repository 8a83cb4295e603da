import { afterEach, describe, expect, it } from "vitest";
import { readQuestion } from "../../src/backtest/question.js";
import type { BacktestReport } from "../../src/backtest/report-types.js";
import { CustomerSampler, operationsInOrder } from "../../src/backtest/sampler.js";
import type { CustomerSamples } from "../../src/backtest/samples.js";
import { call } from "../../src/db/api/call.js";
import type { StoredQuestion } from "../../src/db/api/recompute.js";
import { onSnapshot } from "../../src/db/transaction.js";
import type { IdentifyOperation, TrackedEvent } from "../../src/engine/index.js";
import type { Snapshot } from "../../src/model/snapshot/types.js";
import { openPastEvents } from "../../src/tasks/recompute/long-customer.js";
import { compile, count, happened, inactiveFor, snapshotOf, trait } from "../engine/support/builders.js";
import { useDatabase } from "../support/database.js";
import { declared, TestEnvironment, type TestOperation } from "./support/environment.js";
import { everything } from "./support/kept.js";
import { CHANGED, MODEL, populated, POPULATION_THROUGH as AT } from "./support/population.js";
import { jobOf, JobRunner, queue, settle } from "./support/recompute.js";

const db = await useDatabase();
const runner = new JobRunner(db);

afterEach(() => runner.end());

const QUESTION: StoredQuestion = {
  ...{ outcome: "state:quiet", within: "14d", every: "7d" },
  ...{ from: "2026-01-03T00:00:00.000Z", to: "2026-02-20T00:00:00.000Z" },
  ...{ end: AT, traits: "then", against: null },
};

async function samplesOf(id: string): Promise<CustomerSamples[]> {
  const rows = await db.sql<{ difference: CustomerSamples }[]>`
    select difference from svc.recompute_customers where recompute_id = ${id} order by customer_id`;
  return rows.map(({ difference }) => difference);
}

async function reportOf(id: string): Promise<BacktestReport | null> {
  const [row] = await db.sql<[{ report: BacktestReport | null }]>`
    select report from svc.recomputes where recompute_id = ${id}`;
  return row.report;
}

/** Runs a backtest to its end. */
async function run(environment: TestEnvironment, question: StoredQuestion = QUESTION) {
  const id = await runner.complete(environment, { kind: "backtest", question, at: AT });
  const job = await jobOf(db.sql, id);
  expect(job).toMatchObject({ status: "completed", error: null });
  return { id, job, samples: await samplesOf(id), report: (await reportOf(id))! };
}

/** The samples that the sampler alone takes from the stored customers. */
async function sampledAlone({ environmentId }: TestEnvironment, models: readonly Snapshot[]) {
  const snapshots = models.map(declared);
  const compiled = snapshots.map(compile);
  const asked = readQuestion(QUESTION, Date.parse(AT), snapshots[0]!);
  const customers = await db.sql<{ id: string; at: number; events: TrackedEvent[]; updates: IdentifyOperation[] }[]>`
    select c.customer_id as id, floor(extract(epoch from c.created_at) * 1000)::float8 as at,
      (select coalesce(json_agg(json_build_object(
        'seq', e.event_seq, 'eventId', svc.event_id(e.event_seq), 'event', e.event, 'properties', e.properties,
        'occurredAt', extract(epoch from e.occurred_at) * 1000
      )), '[]') from svc.events as e where e.environment_id = c.environment_id and e.customer_id = c.customer_id) as events,
      (select coalesce(json_agg(json_build_object(
        'kind', 'identify', 'seq', t.operation_seq, 'traits', t.traits, 'acceptedAt', extract(epoch from t.accepted_at) * 1000
      )), '[]') from svc.trait_updates as t where t.environment_id = c.environment_id and t.customer_id = c.customer_id) as updates
    from svc.customers as c where c.environment_id = ${environmentId} order by c.customer_id`;
  const samples: CustomerSamples[] = [];
  for (const { id: customerId, at: createdAt, events, updates } of customers) {
    const sampler = new CustomerSampler(asked, compiled, { customerId, createdAt, traits: {} });
    await onSnapshot(db.sql, (tx) =>
      sampler.samplePart(
        operationsInOrder(events, updates),
        true,
        compiled.map(() => openPastEvents(tx, environmentId, customerId)),
      ),
    );
    samples.push(sampler.samples);
  }
  return samples.filter(({ said }) => said[0]!.length > 0);
}

const MODEL_OF_PLANS = snapshotOf({
  states: { new: [["active", happened("login")]], active: [["quiet", inactiveFor("10d")]], quiet: [] },
  segments: { pro: trait("plan", "eq", "pro") },
});

/** An environment with one customer who logged in and later became pro. */
async function becomingPro(operations: TestOperation[] = []): Promise<TestEnvironment> {
  const environment = await TestEnvironment.create(db.sql, MODEL_OF_PLANS);
  await environment.take({ at: AT }, [
    { customer: "globex", at: "2026-01-02T00:00:00.000Z", event: "login" },
    { customer: "globex", at: "2026-01-12T00:00:00.000Z", traits: { plan: "pro" } },
    ...operations,
  ]);
  return environment;
}

/** The customer's segments from each instant on. */
const segmentsOf = ([customer]: CustomerSamples[]) =>
  customer!.said[0]!.map(([index, { segments }]) => [index, ...segments]);

it("stores the samples that the sampler alone takes of the same operations, under both models, and changes nothing else", async () => {
  const environment = await populated(db.sql, 60, CHANGED);
  await environment.deploy(MODEL);
  const before = await everything(environment);
  const { id, job, samples, report } = await run(environment, { ...QUESTION, against: "v1" });
  expect(samples).toEqual(await sampledAlone(environment, [MODEL, CHANGED]));
  expect(samples.length).toBeGreaterThan(30);
  expect(samples.filter(({ outcomes }) => outcomes.length > 0).length).toBeGreaterThan(5);
  expect(job).toMatchObject({ customers_total: 60, customers_done: 60, customers_changed: samples.length });
  expect(await everything(environment)).toEqual(before);
  expect(report).toMatchObject({
    ...{ outcome: "state:quiet", within: "14d", every: "7d", end: AT },
    models: [{ name: "v2" }, { name: "v1" }],
  });
  expect(report.samples.withOutcome).toBeGreaterThan(0);
  const [row] =
    await db.sql`select snapshot, question ->> 'against' as against from svc.recomputes where recompute_id = ${id}`;
  expect(row).toEqual({ snapshot: null, against: "v1" });

  const sample = await runner.complete(environment, { kind: "backtest", question: QUESTION, at: AT, sample: 20 });
  const { customers_total: total, customers_done: done } = await jobOf(db.sql, sample);
  expect(done).toBe(total);
  expect(total).toBeGreaterThan(10);
  expect(total).toBeLessThan(30);
});

it("a history too long for one pass is read in parts, with the same samples", async () => {
  const model = snapshotOf({
    states: {
      new: [["active", count("login", "gte", 3)]],
      active: [["quiet", inactiveFor("5d")]],
      quiet: [["active", happened("login", { within: "1d" })]],
    },
    segments: { frequent: count("login", "gte", 40, { within: "3d" }), pro: trait("plan", "eq", "pro") },
  });
  const environment = await TestEnvironment.create(db.sql, model);
  const hour = (n: number) => new Date(Date.parse("2026-01-01T00:00:00.000Z") + n * 1_200_000).toISOString();
  const operations = Array.from({ length: 2_600 }, (_, n): TestOperation => {
    const at = hour(n + (n > 1_800 ? 700 : 0));
    return n % 900 === 500
      ? { customer: "c1", at, traits: { plan: n < 1_000 ? "pro" : "free" } }
      : { customer: "c1", at, event: "login" };
  });
  for (let i = 0; i < operations.length; i += 1_000) await environment.ingest(operations.slice(i, i + 1_000));
  await environment.evaluate({ at: AT });
  const { samples } = await run(environment);
  expect(samples).toEqual(await sampledAlone(environment, [model]));
  expect(samples[0]!.said[0]!.length).toBeGreaterThan(3);
});

describe("traits", () => {
  it("hold from their acceptance on, or the current ones from the first event on if the question says so", async () => {
    const environment = await becomingPro();
    expect(segmentsOf((await run(environment)).samples)).toEqual([[0], [2, "pro"]]);
    const { samples } = await run(environment, { ...QUESTION, traits: "now" });
    expect(segmentsOf(samples)).toEqual([
      [0, "pro"],
      [2, "pro"],
    ]);
  });

  it("whose update was removed by retention hold from the beginning", async () => {
    const environment = await becomingPro([
      { customer: "globex", at: "2026-01-13T00:00:00.000Z", traits: { renewsOn: "2026-05-01" } },
    ]);
    const { environmentId } = environment;
    await db.sql`delete from svc.trait_updates where environment_id = ${environmentId} and traits ? 'plan'`;
    await db.sql`
      insert into svc.retention (environment_id, events_removed, last_removed_at, removed_through)
      values (${environmentId}, 1, '2026-01-01', 1e15)`;
    const { samples, report } = await run(environment);
    expect(segmentsOf(samples)[0]).toEqual([0, "pro"]);
    expect(report.notes.at(-1)).toMatch(/accepted before 2026-01-01T00:00:00.000Z have been removed by retention/);
  });
});

it("waiting operations and customers without evaluated ones are ignored", async () => {
  const environment = await becomingPro();
  await environment.ingest([
    { customer: "globex", at: "2026-01-20T00:00:00.000Z", traits: { plan: "free" } },
    { customer: "globex", at: "2026-01-20T00:00:00.000Z", event: "login" },
    { customer: "initech", at: "2026-01-02T00:00:00.000Z", event: "login" },
  ]);
  const { samples } = await run(environment);
  expect(samples.map(({ customerId }) => customerId)).toEqual(["globex"]);
  expect(segmentsOf(samples).at(-1)).toEqual([2, "pro"]);
});

it("a worker that ends leaves the remaining customers to the next one, and also the report if it ends while it makes that", async () => {
  const environment = await populated(db.sql, 22);
  const expected = await run(environment);
  const id = await queue(db.sql, environment, { kind: "backtest", question: QUESTION, at: AT });
  const first = (await runner.claim())!;
  expect(await runner.run(first, () => false)).toBe(false);
  await runner.kill();
  expect(await jobOf(db.sql, id)).toMatchObject({ status: "running", customers_done: 10 });
  await runner.end();
  const second = (await runner.claim())!;
  let asked = 0;
  // After the next ten customers, after the others, and before the report's first page.
  expect(await runner.run(second, () => ++asked < 3)).toBe(false);
  await runner.leave(second);
  expect(await jobOf(db.sql, id)).toMatchObject({ status: "queued", customers_done: 22 });
  expect(await reportOf(id)).toBeNull();
  await runner.runNext(id);
  expect(await jobOf(db.sql, id)).toMatchObject({ status: "completed", attempt: 3, customers_done: 22 });
  expect(await samplesOf(id)).toEqual(expected.samples);
  expect(await reportOf(id)).toEqual(expected.report);
});

it("a backtest that fails too often is given up with an error that says what to do", async () => {
  const environment = await becomingPro();
  const id = await queue(db.sql, environment, {
    kind: "backtest",
    question: { ...QUESTION, outcome: "state:gone" },
    at: AT,
  });
  expect(await settle(db, id, { attemptsMax: 2 })).toMatchObject({
    status: "dead_letter",
    error: expect.stringMatching(/no state "gone".* ask for the backtest again\.$/) as string,
  });
});

it("erasing a customer removes its samples; after 30 days all are removed, but the report stays", async () => {
  const environment = await populated(db.sql, 12);
  const { id, samples, report } = await run(environment);
  const [{ customerId }] = samples as [CustomerSamples];
  expect(await environment.erase(customerId)).toMatchObject({ recomputeResults: 1 });
  expect(await samplesOf(id)).toEqual(samples.slice(1));
  await db.sql`update svc.recomputes set finished_at = now() - interval '31 days' where recompute_id = ${id}`;
  while ((await call(db.sql, "sweep_recomputes", 1_000)) > 0);
  expect(await samplesOf(id)).toEqual([]);
  expect(await reportOf(id)).toEqual(report);
});
