import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { call } from "../../src/db/api/call.js";
import { environmentsToSweep, loadedState } from "../../src/db/api/evaluation.js";
import { sweepRetention } from "../../src/tasks/periodic-jobs.js";
import {
  aggregate,
  count,
  distinct,
  emit,
  happened,
  inactiveFor,
  inState,
  rule,
  snapshotOf,
} from "../engine/support/builders.js";
import { useDatabase } from "../support/database.js";
import { changeTriggers } from "../support/triggers.js";
import { documentOf, emissionsOf, engineOperations, modelOf, newRun } from "./support/engine.js";
import { TestEnvironment, type TestOperation } from "./support/environment.js";
import { jobOf, JobRunner, queue, untilWaiting } from "./support/recompute.js";
import { expectReplayed, replayedTo, storedOf, transitionsOf } from "./support/replayed.js";

const db = await useDatabase();
const runner = new JobRunner(db);
let environment: TestEnvironment;

const MODEL = snapshotOf({
  states: { new: [["active", count("login", "gte", 2)]], active: [] },
  segments: { seen: happened("login") },
  rules: { note: rule("login", emit("login.noted")) },
});

// Of the organizations of former tests, which no sweep need visit.
await db.sql`
  insert into iam.plans select (jsonb_populate_record(p, '{"plan_id": "former", "retention_days": null}')).* from iam.plans as p`;
beforeEach(async () => {
  environment = await TestEnvironment.create(db.sql, MODEL);
  await keep(30);
});
afterEach(async () => {
  await runner.end();
  await db.sql`
    truncate svc.events, svc.trait_updates, svc.ingest_batches, svc.inbox, svc.idempotency_keys, svc.retention, svc.retired_keys,
      svc.superseded_logs, svc.recomputes`;
  await db.sql`update iam.organizations set plan_id = 'former'`;
});

const keep = (days: number | null) => db.sql`update iam.plans set retention_days = ${days} where plan_id <> 'former'`;
const HOUR = 3_600_000;
/** The instant `days` days ago. */
const ago = (days: number, hours = 0) => new Date(Date.now() - days * 24 * HOUR - hours * HOUR).toISOString();
const login = (days: number, more: Partial<TestOperation> = {}): TestOperation => ({
  at: ago(days),
  event: "login",
  ...more,
});
const sweep = (options = {}) => sweepRetention(db.sql, new AbortController().signal, { rows: 100, ...options });
const operations = (after: number | null = null, rows = 100) =>
  call(db.sql, "sweep_operations", environment.environmentId, after, rows);

/** The number of rows of the environment in a table. */
async function rows(table: string): Promise<number> {
  const [row] = await db.sql<[{ rows: number }]>`
    select count(*)::integer as rows from svc.${db.sql(table)} where environment_id = ${environment.environmentId}`;
  return row.rows;
}

/** The events that are kept, as days since their acceptance, oldest first. */
async function kept(): Promise<number[]> {
  const events = await db.sql<{ days: number }[]>`
    select round(extract(epoch from now() - accepted_at) / 86400)::integer as days from svc.events
    where environment_id = ${environment.environmentId} order by event_seq`;
  return events.map(({ days }) => days);
}

/** Sends one event with a key, accepted `days` days ago; returns whether it was stored. */
async function keyed(key: string, days = 0, customer = "c1"): Promise<boolean> {
  const before = await rows("events");
  const body = { customerId: customer, event: "login", timestamp: "2026-01-01T00:00:00Z", idempotencyKey: key };
  await environment.ingestText([JSON.stringify(body)], [{ at: ago(days) }]).catch(() => undefined);
  return (await rows("events")) > before;
}

describe("operations older than the plan's retention", () => {
  it("are removed with their batches unless the plan keeps them forever, and still count as accepted", async () => {
    await environment.ingest([login(40), { at: ago(40), traits: { plan: "pro" } }]);
    await environment.ingest([login(30, { at: ago(30, 1) }), login(30, { at: ago(30, 1) })]);
    await environment.take({}, [login(29), { at: ago(29), traits: { plan: "free" } }]);
    await keep(null);
    expect(await environmentsToSweep(db.sql)).not.toContain(environment.environmentId);
    expect((await sweep()).operations).toBe(0);
    expect(await operations()).toEqual({ removed: 0, through: null });

    await keep(30);
    const before = await environment.documentText();
    expect(await sweep()).toEqual({ operations: 4, keys: 0, quarantined: 0, logs: 0 });
    expect(await kept()).toEqual([29]);
    expect([await rows("trait_updates"), await rows("ingest_batches")]).toEqual([1, 1]);
    expect(await environment.documentText()).toBe(before);
    expect(await sweep()).toEqual({ operations: 0, keys: 0, quarantined: 0, logs: 0 });
    const [totals] = await db.sql`
      select events_removed::integer as events, trait_updates_removed::integer as traits, batch_events_removed::integer as accepted,
        last_removed_at > now() - interval '1 minute' as now
      from svc.retention where environment_id = ${environment.environmentId}`;
    expect(totals).toEqual({ events: 3, traits: 1, accepted: 3, now: true });
    const overview = await call(db.sql, "get_overview", environment.by, environment.place);
    expect(JSON.parse(overview)).toMatchObject({ events: { accepted: 4, pending: 0, ahead: 0 } });
  });

  it("stay while they wait for evaluation, with their batch, and go afterwards", async () => {
    await environment.ingest([login(40), login(40, { customer: "c2" })]);
    await environment.take({}, [login(40)]);
    await db.sql`
      insert into svc.inbox (environment_id, customer_id, seq, not_before)
      select environment_id, customer_id, event_seq, 'infinity' from svc.events
      where environment_id = ${environment.environmentId} and customer_id = 'c2'`;
    expect((await sweep()).operations).toBe(2);
    expect([await rows("events"), await rows("ingest_batches")]).toEqual([1, 1]);
    expect((await sweep()).operations).toBe(0);
    await db.sql`delete from svc.inbox where environment_id = ${environment.environmentId}`;
    expect((await sweep()).operations).toBe(1);
    expect([await rows("events"), await rows("ingest_batches")]).toEqual([0, 0]);
  });

  it("stay while they occur in the future or within the retained days, and only later ones count as kept", async () => {
    await environment.ingest([
      login(60, { occurred: ago(31) }),
      login(60, { occurred: ago(29) }),
      login(60, { occurred: ago(-5) }),
    ]);
    await environment.ingest([login(50)]);
    // A history sent today.
    await environment.take({}, [login(0, { occurred: ago(900), customer: "c2" })]);
    expect((await sweep()).operations).toBe(2);
    expect(await kept()).toEqual([60, 60, 0]);
    expect([await rows("ingest_batches"), await rows("inbox")]).toEqual([2, 1]);
    const [from] = await db.sql<[{ days: number }]>`
      select round(extract(epoch from now() - svc.retained_from(${environment.environmentId})) / 86400)::integer as days`;
    expect(from.days).toBe(0);
  });

  it("are removed a few at a time, and the next sweep continues after them", async () => {
    for (let batch = 0; batch < 6; batch++) await environment.ingest([login(40), login(40), login(40)]);
    await environment.take({}, [login(1)]);
    const [{ last }] = await db.sql<[{ last: number }]>`
      select max(batch_seq)::float8 as last from svc.ingest_batches where environment_id = ${environment.environmentId}`;
    const first = await operations(null, 4);
    expect(first).toEqual({ removed: 6, through: last - 5 });
    // A new sweep, as after a killed process.
    expect(await operations(null, 4)).toEqual({ removed: 6, through: last - 3 });
    expect(await operations(last - 3, 4)).toEqual({ removed: 6, through: null });
    expect(await kept()).toEqual([1]);
  });

  it("are found even if more operations before them stay than one call, or one sweep, reads", async () => {
    for (let batch = 0; batch < 6; batch++) await environment.ingest([login(40, { occurred: ago(1) })]);
    await environment.take({}, [login(40)]);
    expect((await sweep({ rows: 2 })).operations).toBe(1);
    expect(await rows("events")).toBe(6);
    await environment.take({}, [login(40)]);
    const removed: number[] = [];
    // Each sweep makes one call.
    for (let sweeps = 0; sweeps < 8; sweeps++) removed.push((await operations(null, 2)).removed);
    expect(removed.reduce((sum, each) => sum + each, 0)).toBe(1);
    await db.sql`update svc.events set occurred_at = accepted_at where environment_id = ${environment.environmentId}`;
    expect((await sweep({ rows: 2 })).operations).toBe(6);
  });
});

describe("the idempotency key of a removed event", () => {
  it("still detects repetitions for 90 days, and can then be used for another event", async () => {
    await keyed("k", 40);
    await environment.evaluate();
    expect((await sweep()).operations).toBe(1);
    expect(await keyed("k")).toBe(false);
    const retire = (days: number) =>
      db.sql`update svc.retired_keys set retired_at = now() - make_interval(days => ${days})`;
    await retire(89);
    expect((await sweep()).keys).toBe(0);
    expect(await keyed("k")).toBe(false);
    await retire(91);
    expect((await sweep()).keys).toBe(1);
    expect([await rows("idempotency_keys"), await rows("retired_keys")]).toEqual([0, 0]);
    expect(await keyed("k")).toBe(true);
  });

  it("is removed also where the last sweep was made while the database's clock was ahead", async () => {
    await keyed("ahead", 40);
    await environment.evaluate();
    await sweep();
    await db.sql`update svc.retention set keys_swept_through = now() + interval '1 year'`;
    await db.sql`update svc.retired_keys set retired_at = now() - interval '91 days'`;
    expect((await sweep()).keys).toBe(1);
  });

  it("is removed also if it was retired after the clock was set back, before the instant that the clock had reached", async () => {
    await keyed("ahead", 40);
    await environment.evaluate();
    await sweep();
    await db.sql`update svc.retention set keys_swept_through = now() + interval '30 days'`;
    expect((await sweep()).keys, "of keys that are not old enough").toBe(0);
    // A hundred days later.
    await db.sql`update svc.retention set keys_swept_through = now() - interval '70 days' where keys_swept_through > now()`;
    await db.sql`update svc.retired_keys set retired_at = now() - interval '100 days'`;
    expect((await sweep()).keys).toBe(1);
  });

  it("is removed with a few others at a time", async () => {
    for (let n = 0; n < 7; n++) await keyed(`k${n}`, 40);
    await environment.evaluate();
    await sweep();
    await db.sql`update svc.retired_keys set retired_at = to_timestamp(${Date.now() / 1000 - 91 * 86_400}::float8 - event_seq % 1000000 / 1000.0)`;
    await db.sql`update svc.retention set keys_swept_through = '-infinity'`;
    const removed: number[] = [];
    for (let n = -1; n !== 0; removed.push(n)) n = await call(db.sql, "sweep_keys", environment.environmentId, 3);
    expect(removed).toEqual([3, 3, 1, 0]);
    expect(await rows("idempotency_keys")).toBe(0);
  });

  it("is removed with its customer, whether the event was removed before, is during the erasure, or is still there", async () => {
    await keyed("removed before", 40);
    await keyed("of another", 40, "c2");
    await environment.evaluate();
    await sweep();
    await keyed("removed meanwhile", 40);
    await keyed("still there", 1);
    await environment.evaluate();
    const { erasure } = await db.sql.begin(async (tx) => {
      await tx`select svc_api.sweep_operations(${environment.environmentId}, null, 10)`;
      const erasure = db.sql<[{ erased: object }]>`
        select svc.delete_customer(${environment.environmentId}, 'c1') as erased`.execute();
      await untilWaiting(db.sql, "delete_customer");
      return { erasure };
    });
    expect((await erasure)[0].erased).toMatchObject({ events: 1, idempotencyKeys: 3 });
    const left = await db.sql`
      select customer_id as customer from svc.retired_keys where environment_id = ${environment.environmentId}`;
    expect(left).toEqual([{ customer: "c2" }]);
    expect(await rows("idempotency_keys")).toBe(1);
  });
});

describe("a removal in progress", () => {
  it("blocks no ingestion, evaluation, recompute or other sweep, and skips rows locked by an erasure", async () => {
    await environment.ingest([login(40), login(2)]);
    await environment.take({}, [login(40, { customer: "c2" })]);
    // The first sweep of an environment creates its row.
    await keep(50);
    await sweep();
    await keep(30);
    await db.sql.begin(async (tx) => {
      await tx`set local lock_timeout = '5s'`;
      const [{ swept }] = await tx<[{ swept: { removed: number } }]>`
        select svc_api.sweep_operations(${environment.environmentId}, null, 10) as swept`;
      expect(swept.removed).toBe(2);
      // On other connections, which would wait forever if it held locks they need.
      expect(await operations()).toEqual({ removed: 0, through: null });
      await environment.take({}, [login(0, { event: "other" }), { at: ago(0), traits: { plan: "pro" } }]);
      const id = await runner.complete(environment);
      expect(await jobOf(db.sql, id)).toMatchObject({ status: "completed", customers_done: 2 });
    });
    expect(await environment.document()).toMatchObject({ traits: { plan: "pro" }, lifecycle: "active" });
    await environment.take({}, [login(40), login(40, { customer: "c2" })]);
    await db.sql.begin(async (tx) => {
      await tx`select svc.delete_customer(${environment.environmentId}, 'c2')`;
      expect((await sweep()).operations).toBe(1);
    });
  });

  it("ends between two transactions when the worker stops, and the next one continues", async () => {
    for (let batch = 0; batch < 10; batch++) await environment.ingest([login(40)]);
    await environment.evaluate();
    const stop = new AbortController();
    const swept = sweepRetention(db.sql, stop.signal, { rows: 1 });
    await expect.poll(() => rows("events"), { interval: 1, timeout: 30_000 }).toBeLessThan(10);
    stop.abort();
    const { operations } = await swept;
    expect(operations).toBe(10 - (await rows("events")));
    await sweep({ rows: 1 });
    expect(await rows("events")).toBe(0);
  });
});

describe("a sweep", () => {
  it("leaves the rest to the next one when its time is over, or if an environment fails, which fails it in the end", async () => {
    const more = [await TestEnvironment.create(db.sql, MODEL), await TestEnvironment.create(db.sql, MODEL)];
    for (const each of [environment, ...more]) {
      await each.take({}, [login(40)]);
    }
    expect(await sweep({ msMax: 0 })).toEqual({ operations: 0, keys: 0, quarantined: 0, logs: 0 });
    const failing = more[0]!.environmentId;
    await changeTriggers(
      db.sql,
      "create function public.refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$",
      `create trigger refuse before delete on svc.events for each row
       when (old.environment_id = ${failing}) execute function public.refuse()`,
    );
    try {
      await expect(sweep()).rejects.toThrow("refused");
      const left = await db.sql<{ id: number }[]>`select environment_id as id from svc.events`;
      expect(left).toEqual([{ id: failing }]);
    } finally {
      await changeTriggers(db.sql, "drop trigger refuse on svc.events", "drop function public.refuse()");
    }
  });
});

const WINDOWED = snapshotOf({
  states: {
    new: [["active", count("login", "gte", 3, { within: "9d" })]],
    active: [["quiet", inactiveFor("5d")]],
    quiet: [
      ["active", count("login", "gte", 1, { within: "1d" })],
      ["lost", inState("10d")],
    ],
    lost: [["active", happened("login", { within: "2d" })]],
  },
  segments: {
    spending: aggregate("sum", ["paid", "x"], "gte", 260, { within: "10d" }),
    average: aggregate("avg", ["paid", "x"], "gte", 5, { within: "12d" }),
    peak: aggregate("max", ["paid", "x"], "gte", 10, { within: "8d" }),
    broad: distinct(["paid", "x"], "gte", 9, { within: "6d" }),
    busy: count("paid", "gte", 40, { within: "11d" }),
  },
  rules: { note: rule({ kind: "segmentEntered", segment: "busy" }, emit("busy.noted")) },
});
const START = 60;

/** Operations over two months, several a day, more than the engine remembers for a window. */
function history(): TestOperation[] {
  let state = 1;
  const next = () => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) / 2_147_483_648;
  const made: TestOperation[] = [];
  for (let hours = START * 24; hours > 0; hours -= Math.ceil(next() ** 3 * 30)) {
    const at = new Date(Date.now() - hours * HOUR + Math.floor(next() * HOUR)).toISOString();
    const event = next() < 0.15 ? "login" : "paid";
    made.push({ at, event, properties: { x: Math.floor(next() * 12) } });
  }
  return made;
}

it("with windows shorter than the retention, live evaluation continues as with the whole history", async () => {
  environment = await TestEnvironment.create(db.sql, WINDOWED);
  const all = history();
  const run = newRun(modelOf(WINDOWED), "c1", all[0]!.at);
  // Up to where every window is retained, then in steps of three days.
  const recent = Array.from({ length: 5 }, (_, step) =>
    all.filter(({ at }) => at > ago(15 - 3 * step) && at <= ago(12 - 3 * step)),
  );
  for (const part of [all.filter(({ at }) => at <= ago(15)), ...recent]) {
    if (part.length === 0) continue;
    const seqs: number[] = [];
    for (let n = 0; n < part.length; n += 100) seqs.push(...(await environment.ingest(part.slice(n, n + 100))));
    for (const operation of engineOperations(part, seqs)) run.take([operation]);
    const at = part.at(-1)!.at;
    await environment.evaluate({ at, settleSeconds: 0 });
    run.tick(Date.parse(at));
    expect(await environment.documentText()).not.toBeNull();
    expect(JSON.stringify(await environment.document())).toBe(documentOf(run));
    await sweep();
  }
  const left = await rows("events");
  expect(left).toBeLessThan(all.length);
  expect(left).toBe(all.filter(({ at }) => at > ago(30)).length);
  for (const days of [1, 3, 8, 12, 25]) {
    await environment.evaluate({ at: ago(-days), settleSeconds: 0 });
    run.tick(Date.parse(ago(-days)));
  }
  const { evaluatedThrough: _through, nextDueAt: _due, ...document } = await environment.document();
  expect(documentOf(run)).toContain(JSON.stringify(document.segments));
  expect(document.lifecycle).toBe(run.state.lifecycle?.state);
  expect(await environment.emissions()).toEqual(emissionsOf(run));
});

it("a recompute after a removal replays the retained events, says since when, and the last event does not move back", async () => {
  await environment.ingest([login(50), login(49), login(40, { customer: "gone" })]);
  const last = login(10);
  await environment.take({}, [last]);
  await db.sql`update svc.customers set created_at = ${ago(50)} where environment_id = ${environment.environmentId}`;
  expect(await environment.document()).toMatchObject({ lifecycle: "active" });
  const id = await queue(db.sql, environment);
  const exactFrom = async () => {
    const [{ at }] = await db.sql<[{ at: Date | null }]>`
      select exact_from as at from svc.recomputes where recompute_id = ${id}`;
    return at?.toISOString();
  };
  // A first attempt before the removal.
  await runner.leave((await runner.claim())!);
  expect(await exactFrom()).toBeUndefined();
  await sweep();
  await runner.runNext(id);
  expect(await exactFrom()).toBe(last.at);
  // One of the three logins is retained.
  expect(await environment.document()).toMatchObject({ lifecycle: "new", segments: ["seen"] });
  expect(await environment.document("gone")).toMatchObject({ lifecycle: "new", segments: [] });
  for (const customer of ["c1", "gone"]) {
    const { lastEventAt, evaluatedThrough } = loadedState(await storedOf(environment, customer));
    expect(new Date(lastEventAt!).toISOString().slice(0, 10)).toBe(ago(customer === "c1" ? 10 : 40).slice(0, 10));
    const through = new Date(evaluatedThrough!).toISOString();
    await expectReplayed(environment, customer, await replayedTo(environment, MODEL, through, customer));
  }
});

describe("logs that a recompute superseded", () => {
  const LOGS = ["lifecycle_transitions", "rule_executions"] as const;
  const age = (days: number) =>
    db.sql`update svc.superseded_logs set superseded_at = now() - make_interval(days => ${days})`;
  const recompute = async () => {
    await runner.runNext(await queue(db.sql, environment));
  };
  const generations = async () =>
    Object.fromEntries(
      await Promise.all(
        LOGS.map(async (log) => {
          const found = await db.sql<{ generation: number }[]>`
            select distinct generation from svc.${db.sql(log)} where environment_id = ${environment.environmentId} order by 1`;
          return [log, found.map(({ generation }) => generation)];
        }),
      ),
    );

  const keepSuperseded = (days: number | null) => db.sql`update iam.plans set superseded_days = ${days}`;

  beforeEach(async () => {
    await keepSuperseded(7);
    await environment.take({}, [login(3), login(2), login(2, { customer: "c2" })]);
  });

  it("of several recomputes are removed when the plan's days are over, but current ones and runs that emitted stay", async () => {
    await recompute();
    await age(6);
    expect((await sweep()).logs).toBe(0);
    await age(8);
    await recompute();
    const shown = async () => [await environment.documentText(), await transitionsOf(environment, "c1")];
    const before = await shown();
    expect(await generations()).toEqual({ lifecycle_transitions: [0, 1, 2], rule_executions: [0, 1, 2] });
    // Two transitions and one, and one row per customer; the runs of live evaluation have all emitted.
    expect((await sweep()).logs).toBe(5);
    expect(await generations()).toEqual({ lifecycle_transitions: [1, 2], rule_executions: [0, 1, 2] });
    await age(8);
    // A replay emits nothing, so its runs are removed too.
    expect((await sweep()).logs).toBe(8);
    expect(await generations()).toEqual({ lifecycle_transitions: [2], rule_executions: [0, 2] });
    expect(await shown()).toEqual(before);
    expect(await rows("superseded_logs")).toBe(0);
  });

  it("are removed a few at a time, but not if the plan keeps them forever", async () => {
    await environment.take({}, Array(10).fill(login(1)));
    await recompute();
    await recompute();
    await keepSuperseded(null);
    await age(36_500);
    expect((await sweep()).logs).toBe(0);
    await keepSuperseded(7);
    const removed: number[] = [];
    for (let n = -1; n !== 0; removed.push(n)) n = await call(db.sql, "sweep_logs", environment.environmentId, 5);
    expect(removed.length).toBeGreaterThan(3);
    for (const n of removed) expect(n).toBeLessThanOrEqual(16);
    expect(await generations()).toEqual({ lifecycle_transitions: [2], rule_executions: [0, 2] });
  });
});
