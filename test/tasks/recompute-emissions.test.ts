import { afterEach, describe, expect, it } from "vitest";
import type { Snapshot } from "../../src/model/snapshot/types.js";
import { count, counted, emit, happened, healthOf, inSegment, rule, snapshotOf } from "../engine/support/builders.js";
import { useDatabase } from "../support/database.js";
import { isCluster } from "../support/is-cluster.js";
import { createWebhook, deliveriesOf } from "../webhooks/support/fixtures.js";
import { TestEnvironment, type TestOperation } from "./support/environment.js";
import { Gate } from "./support/gate.js";
import { customersOf } from "./support/population.js";
import { differencesOf, jobOf, JobRunner, poison, queue, settle } from "./support/recompute.js";

const db = await useDatabase();
const runner = new JobRunner(db);

afterEach(async () => {
  await runner.end();
  await db.sql`delete from svc.webhooks`;
});

const AT = "2026-03-01T00:00:00.000Z";
const day = (n: number) => `2026-01-${String(n).padStart(2, "0")}T00:00:00.000Z`;
const on = (n: number, event: string, customer = "c1"): TestOperation => ({ customer, at: day(n), event });

async function evaluated(model: Snapshot, operations: TestOperation[], at = AT): Promise<TestEnvironment> {
  const environment = await TestEnvironment.create(db.sql, model);
  await environment.take({ at }, operations);
  return environment;
}

/** Deploys a model, recomputes under it, and returns the job's id. */
async function recompute(environment: TestEnvironment, model: Snapshot, at = AT): Promise<string> {
  await environment.deploy(model);
  const id = await runner.complete(environment, { at });
  return id;
}

const NOTHING = snapshotOf({ states: { new: [] } });
const ALL = snapshotOf({
  states: { new: [["active", happened("login")]], active: [["busy", count("login", "gte", 2)]], busy: [] },
  journeys: { start: { start: happened("login"), steps: [["again", happened("login")]] } },
  segments: { b: happened("login"), a: happened("login") },
  health: healthOf({ use: counted("login", 2) }, { good: 50, poor: 0 }),
  rules: { note: rule("login", emit("login.noted")) },
  signals: { hot: { when: inSegment("a"), severity: "critical", message: "hot" } },
});

it("corrections are emitted for the differences between the final states at the pinned instant, in order, caused by the job", async () => {
  const environment = await evaluated(NOTHING, [on(2, "login"), on(3, "login")]);
  const before = await environment.emissions();
  const id = await recompute(environment, ALL);
  const after = await environment.emissions();
  expect(after.slice(0, before.length)).toEqual(before);
  const emitted: [type: string, source: string, metadata: object][] = [
    ["customer.busy", "lifecycle", { previous_lifecycle: "new", new_lifecycle: "busy" }],
    ["journey.completed", "journey", { journey: "start" }],
    ["segment.entered", "segment", { segment: "a" }],
    ["segment.entered", "segment", { segment: "b" }],
    ["health.changed", "health", { previous_band: null, new_band: "good", overall: 100 }],
    ["signal.raised", "signal", { signal: "hot", severity: "critical", message: "hot" }],
  ];
  const shared = { at: AT, cause: "job", causeId: id, version: 2 };
  expect(after.slice(before.length)).toEqual(
    emitted.map(([type, source, metadata]) => ({ ...shared, type, source, metadata })),
  );
  const [difference] = await differencesOf(db.sql, id);
  expect(difference!.emissions.map(({ eventType }) => eventType)).toEqual(emitted.map(([type]) => type));
  expect((await jobOf(db.sql, id)).emissions_added).toBe(6);

  const undone = await recompute(environment, NOTHING);
  const hot = { signal: "hot", severity: "critical", message: "hot" };
  const unscored = { previous_band: "good", new_band: null, overall: null };
  expect((await environment.emissions()).slice(after.length), "the opposite").toMatchObject([
    { type: "customer.new", metadata: { previous_lifecycle: "busy", new_lifecycle: "new" }, at: AT, causeId: undone },
    { type: "segment.exited", metadata: { segment: "a" }, at: AT, causeId: undone },
    { type: "segment.exited", metadata: { segment: "b" }, at: AT, causeId: undone },
    { type: "health.changed", metadata: unscored, at: AT, causeId: undone },
    { type: "signal.cleared", metadata: hot, at: AT, causeId: undone },
  ]);
});

it("a webhook receives the customer as of the recompute", async () => {
  const environment = await evaluated(
    NOTHING,
    [on(2, "login"), { at: day(3), traits: { plan: "pro" } }].map((one) => ({ customer: "c1", ...one })),
  );
  const { webhookId } = await createWebhook(
    db.sql,
    environment.environmentId,
    "https://example.com/hook",
    ["customer.*"],
    {
      include: ["traits.plan", "facts"],
    },
  );
  await recompute(environment, ALL);
  const bodies = await db.sql<{ customer: object }[]>`
    select body::json -> 'data' -> 'customer' as customer from svc.delivery_bodies where webhook_id = ${webhookId}`;
  expect(bodies).toEqual([{ customer: { traits: { plan: "pro" } } }]);
});

describe("expirations", () => {
  const expiring = (expiresAfter: string | undefined, start = "login", repeat = false): Snapshot =>
    snapshotOf({
      journeys: {
        start: {
          start: happened(start, { within: "1d" }),
          steps: [["pay", happened("paid")]],
          ...(expiresAfter === undefined ? {} : { expiresAfter }),
          ...(repeat && { repeat: true as const }),
        },
      },
    });
  const expired = async (environment: TestEnvironment) =>
    (await environment.emissions())
      .filter(({ type }) => type === "journey.expired")
      .map(({ at, cause }) => `${at.slice(5, 10)} ${cause}`);

  it("are emitted once for each run, whatever the expiry under another model, and again under the former", async () => {
    const environment = await evaluated(expiring("5d"), [on(2, "login")]);
    expect(await expired(environment)).toEqual(["01-07 timer"]);
    for (const model of [expiring("3d"), expiring("9d"), expiring("5d"), expiring(undefined), expiring("4d")]) {
      await recompute(environment, model);
      expect(await expired(environment)).toEqual(["01-07 timer"]);
    }
  });

  it("of several runs are emitted once each", async () => {
    const days = [1, 8, 15, 22];
    const environment = await evaluated(
      expiring(undefined),
      days.map((n) => on(n, "login")),
    );
    await recompute(environment, expiring("3d", "login", true));
    const dates = ["01-04 job", "01-11 job", "01-18 job", "01-25 job"];
    expect(await expired(environment)).toEqual(dates);
    for (const expiry of ["2d", "5d", "3d"]) {
      await recompute(environment, expiring(expiry, "login", true));
      expect(await expired(environment), expiry).toEqual(dates);
    }
  });

  it("of a run that starts elsewhere under another model belong to another run, if none was emitted since its start", async () => {
    const environment = await evaluated(expiring("3d"), [on(2, "login"), on(20, "created")]);
    expect(await expired(environment)).toEqual(["01-05 timer"]);
    await recompute(environment, expiring("3d", "created"));
    expect(await expired(environment)).toEqual(["01-05 timer", "01-23 job"]);
    await recompute(environment, expiring("3d"));
    await recompute(environment, expiring("3d", "created"));
    expect(await expired(environment)).toEqual(["01-05 timer", "01-23 job"]);
  });

  it("after the pinned instant are left to live evaluation", async () => {
    const environment = await evaluated(expiring(undefined), [on(2, "login")], day(3));
    await recompute(environment, expiring("5d"), day(4));
    expect(await expired(environment)).toEqual([]);
    await environment.evaluate({ at: AT });
    expect(await expired(environment)).toEqual(["01-07 timer"]);
    await recompute(environment, expiring("5d"));
    expect(await expired(environment)).toEqual(["01-07 timer"]);
  });
});

describe("the outbox", () => {
  const LOGGED = snapshotOf({ states: { new: [] } });
  const ACTIVE = snapshotOf({ states: { new: [["active", happened("login")]], active: [] } });
  const CUSTOMERS = customersOf(30);

  const populated = async () => {
    const environment = await evaluated(
      LOGGED,
      CUSTOMERS.map((customer) => on(2, "login", customer)),
    );
    await environment.deploy(ACTIVE);
    return environment;
  };
  const hook = async ({ environmentId }: TestEnvironment) =>
    (await createWebhook(db.sql, environmentId, "http://127.0.0.1:9/", ["customer.active"])).webhookId;

  /** The same with a webhook and a queued job. */
  const queued = async () => {
    const environment = await populated();
    return { environment, webhook: await hook(environment), id: await queue(db.sql, environment, { at: AT }) };
  };

  /** Expects exactly one delivery to a webhook for each emission of a job. */
  async function expectDeliveredOnce(webhookId: string, id: string, amount: number): Promise<void> {
    const emissions = await db.sql<{ seq: string }[]>`
      select emission_seq::text as seq from svc.emissions
      where cause_id = ${id} and event_type = 'customer.active' order by emission_seq`;
    expect(emissions).toHaveLength(amount);
    const deliveries = await deliveriesOf(db.sql, webhookId);
    expect(deliveries.map(({ emission_seq }) => emission_seq)).toEqual(emissions.map(({ seq }) => seq));
  }

  /** A worker takes the job and dies at the next customer after `customers`. */
  async function dieAfter(customers: number, id: string): Promise<void> {
    const gate = await Gate.close(db);
    const dying = new JobRunner(db);
    const run = dying.runNext(id).catch((error: unknown) => error);
    for (let n = 0; n < customers; n++) {
      expect(await gate.reached(run)).toBe(true);
      await gate.pass();
    }
    await gate.reached(run);
    await dying.kill();
    await run;
    await gate.open();
  }

  it.skipIf(isCluster)(
    "emissions written by a worker that died before passing them on are delivered once to each webhook by the next attempt, even if one was resent by hand",
    async () => {
      const { environment, webhook, id } = await queued();
      const webhooks = [webhook, await hook(environment)];
      for (const customers of [4, 7]) await dieAfter(customers, id);
      expect(await db.sql`select from svc.deliveries`, "nothing was delivered yet").toHaveLength(0);
      expect(await jobOf(db.sql, id)).toMatchObject({ status: "running", customers_done: 11, emissions_added: 11 });
      // As in svc_api.resend_delivery.
      await db.sql`
        insert into svc.deliveries (environment_id, webhook_id, emission_seq)
        select environment_id, ${webhook}, emission_seq from svc.emissions
        where cause_id = ${id} and event_type = 'customer.active' order by emission_seq limit 1`;
      await runner.runNext(id);
      for (const webhook of webhooks) await expectDeliveredOnce(webhook, id, 30);
    },
  );

  it("a job that fails and is given up passes on the emissions it wrote", async () => {
    const { webhook, id } = await queued();
    const callOff = await poison(db.sql, ["c017"]);
    expect(await settle(db, id, { attemptsMax: 2 })).toMatchObject({ status: "dead_letter" });
    await callOff();
    await expectDeliveredOnce(webhook, id, 17);
  });

  it.skipIf(isCluster)(
    "emissions of workers that died before passing them on are delivered when the job is given up",
    async () => {
      const { webhook, id } = await queued();
      await dieAfter(1, id);
      const another = new JobRunner(db);
      await another.claim(2);
      await another.kill();
      expect(await runner.claim(2)).toBeNull();
      expect(await jobOf(db.sql, id)).toMatchObject({ status: "dead_letter", customers_done: 1 });
      await expectDeliveredOnce(webhook, id, 1);
    },
  );

  it.skipIf(isCluster)(
    "a webhook created after an emission was written does not get it, though it is passed on later",
    async () => {
      const { environment, webhook: early, id } = await queued();
      const gate = await Gate.close(db);
      const run = runner.runNext(id);
      for (let n = 0; n < 5; n++) {
        await gate.reached(run);
        await gate.pass();
      }
      // The sixth is also excluded, since its transaction began before.
      await gate.reached(run);
      const late = await hook(environment);
      await gate.open();
      await run;
      await expectDeliveredOnce(early, id, 30);
      const got = new Set((await deliveriesOf(db.sql, late)).map(({ emission_seq }) => emission_seq));
      const emissions = await db.sql<{ seq: string; customer: string }[]>`
      select emission_seq as seq, customer_id as customer from svc.emissions where cause_id = ${id} order by emission_seq`;
      expect(emissions.filter(({ seq }) => !got.has(seq)).map(({ customer }) => customer)).toEqual(
        CUSTOMERS.slice(0, 6),
      );
    },
  );

  const ROW = 65_536;
  /** Pretends that the job wrote `amount` emissions before that it has not passed on. */
  const written = async (id: string, amount: number) => {
    const [job] = await db.sql<[{ seq: string }]>`
      select nextval(svc.evaluation_seq(environment_id))::text as seq from svc.recomputes where recompute_id = ${id}`;
    await db.sql`
      update svc.recomputes set outbox_seq = ${job.seq}, outbox_emissions = ${amount} where recompute_id = ${id}`;
  };
  const batches = async ({ environmentId }: TestEnvironment) => {
    const rows = await db.sql<{ emissions: number }[]>`
      select emissions from svc.emission_batches where environment_id = ${environmentId} order by evaluation_seq`;
    return rows.map(({ emissions }) => emissions);
  };

  it("continues in another row when one has no room for a customer's emissions", async () => {
    const { environment, webhook, id } = await queued();
    const before = await batches(environment);
    // Each customer has three, so the seventh's do not all fit.
    await environment.deploy({
      ...ACTIVE,
      segments: ["a", "b"].map((name) => ({ id: name, when: happened("login") })),
    });
    await db.sql`update svc.recomputes set version = 3 where recompute_id = ${id}`;
    await written(id, ROW - 19);
    await runner.runNext(id);
    await expectDeliveredOnce(webhook, id, 30);
    const [full, ...rest] = (await batches(environment)).slice(before.length);
    expect(full).toBe(ROW - 1);
    expect(rest.reduce((sum, emissions) => sum + emissions, 0)).toBe(90 - 18);
    expect(await environment.emitted("c006")).toEqual([
      `customer.created ${day(2)} event`,
      `customer.active ${AT} job`,
      `segment.entered ${AT} job`,
      `segment.entered ${AT} job`,
    ]);
  });

  it("gives an emission a greater number than what its customer emitted since the row was begun", async () => {
    const { environment, webhook, id } = await queued();
    const before = await batches(environment);
    await written(id, 7);
    // Under another version than the job's.
    await environment.deploy(snapshotOf({ states: { new: [] }, segments: { seen: happened("paid") } }));
    await environment.take({ at: AT }, [on(3, "paid", "c005")]);
    await runner.runNext(id);
    expect(await environment.emitted("c005")).toEqual([
      `customer.created ${day(2)} event`,
      `segment.entered ${day(3)} event`,
      `customer.active ${AT} job`,
      `segment.exited ${AT} job`,
    ]);
    await expectDeliveredOnce(webhook, id, 30);
    // The five before it are in the row that was begun; the other's own emission was passed on when it was evaluated.
    expect((await batches(environment)).slice(before.length, before.length + 2)).toEqual([7 + 5, 1]);
  });

  it("accepts more emissions of one customer than a row holds", async () => {
    const { environment, id } = await queued();
    const { environmentId } = environment;
    const before = await batches(environment);
    await written(id, 10);
    const amount = ROW + 5;
    await db.sql`update svc.recomputes set status = 'running', attempt = 1 where recompute_id = ${id}`;
    const [row] = await db.sql<[{ customer: object }]>`
      select
        json_build_object(
          'customerId', k.customer_id, 'revision', k.xmin::text, 'generation', k.generation + 1, 'state', k.state, 'emissions', (
            select json_agg(json_build_object('type', 'customer.active', 'source', 'lifecycle', 'metadata', '{}'::json, 'at', n))
            from generate_series(1, ${amount}::integer) as n
          )
        ) as customer
      from svc.customers as k
      where k.environment_id = ${environmentId} and k.customer_id = 'c001'`;
    await db.sql`select svc_api.apply_recompute(${environmentId}, ${id}, 1, 2, ${JSON.stringify(row.customer)}::text::json)`;
    await db.sql`select svc.flush_recompute_outbox(${environmentId}, ${id})`;
    expect(await batches(environment)).toEqual([...before, 10, ROW, 5]);
    const counts = await db.sql`
      select count(*)::integer as emissions, bool_and(m.in_order) as "inOrder"
      from (
        select emitted_at > coalesce(lag(emitted_at) over (order by emission_seq), '-infinity') as in_order
        from svc.emissions where environment_id = ${environmentId} and cause_id = ${id}
      ) as m`;
    expect(counts).toEqual([{ emissions: amount, inOrder: true }]);
  });
});
