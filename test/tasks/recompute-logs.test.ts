import { afterEach, beforeEach, expect, it } from "vitest";
import { count, happened, inSegment, snapshotOf } from "../engine/support/builders.js";
import { useDatabase } from "../support/database.js";
import { declared, type TestEnvironment } from "./support/environment.js";
import { everything } from "./support/kept.js";
import { CHANGED, customersOf, MODEL, populated, POPULATION_THROUGH as AT } from "./support/population.js";
import { JobRunner, queue } from "./support/recompute.js";

const CUSTOMERS = customersOf(30);

const db = await useDatabase();
const runner = new JobRunner(db);
let environment: TestEnvironment;

beforeEach(async () => {
  environment = await populated(db.sql, 30);
});
afterEach(() => runner.end());

/** Deploys a model and recomputes all customers under it. */
async function recompute(model: typeof MODEL, at = AT): Promise<string> {
  await environment.deploy(model);
  const id = await queue(db.sql, environment, { at });
  await runner.runNext(id);
  return id;
}

const LOGS = ["lifecycle_transitions", "health_scores", "rule_executions"] as const;
type Log = (typeof LOGS)[number];

/** All rows of a log, superseded ones too, with their generation. */
async function rowsOf(log: Log): Promise<{ generation: number; customer: string; row: string }[]> {
  return db.sql`
    select t.generation, t.customer_id as customer, to_json(t)::text as row from svc.${db.sql(log)} as t
    where t.environment_id = ${environment.environmentId} order by 3`;
}

/** The number of rows of a log that a reader sees. */
async function seen(log: Log): Promise<number> {
  const [{ rows }] = await db.sql<[{ rows: number }]>`
    select count(*)::integer as rows from svc_inspect.${db.sql(log)} where project = ${environment.place.project}`;
  return rows;
}

it("each log keeps former rows unchanged, counts only those of the new generation, and grows by live evaluation", async () => {
  const all = async () => new Map(await Promise.all(LOGS.map(async (log) => [log, await rowsOf(log)] as const)));
  const initial = await all();
  for (const rows of initial.values()) {
    expect(rows.length).toBeGreaterThan(10);
    expect(new Set(rows.map(({ generation }) => generation))).toEqual(new Set([0]));
  }
  await recompute(CHANGED);
  const recomputed = await all();
  for (const [log, rows] of recomputed) {
    expect(rows.filter(({ generation }) => generation === 0)).toEqual(initial.get(log));
    const present = rows.filter(({ generation }) => generation === 1).length;
    expect(present, log).toBeGreaterThan(10);
    expect(rows).toHaveLength(initial.get(log)!.length + present);
    expect(await seen(log)).toBe(present);
  }
  const health = await db.sql`
    select c.customer_id, count(s.*)::integer as records,
      bool_and(s.overall = c.health_overall and s.band = c.health_band and s.components::text = (c.health -> 'components')::text) as same
    from svc.customers as c
    left join svc.health_scores as s using (environment_id, customer_id, generation)
    where c.environment_id = ${environment.environmentId} and c.health is not null
    group by c.customer_id order by c.customer_id`;
  expect(health, "one record, that of the current score").toEqual(
    CUSTOMERS.map((customer) => ({ customer_id: customer, records: 1, same: true })),
  );

  const at = "2026-03-01T06:00:00.000Z";
  const live = ["login", "login", "login", "a", "paid"];
  const sent = CUSTOMERS.flatMap((customer) => live.map((event) => ({ customer, at, event, properties: { x: 1 } })));
  await environment.take({ at }, sent);
  const grown = await all();
  for (const [log, rows] of grown) {
    expect(await seen(log), log).toBe(rows.filter(({ generation }) => generation === 1).length);
    expect(rows.length, log).toBeGreaterThanOrEqual(recomputed.get(log)!.length + CUSTOMERS.length / 3);
  }
  await recompute(MODEL, at);
  const third = await all();
  for (const [log, rows] of third) {
    expect(rows.filter(({ generation }) => generation < 2)).toEqual(grown.get(log));
    expect(await seen(log)).toBe(rows.length - grown.get(log)!.length);
  }
  // A model with nothing to log.
  await recompute(snapshotOf({ segments: { frequent: count("login", "gte", 3) } }), at);
  expect(await all()).toEqual(third);
  for (const log of LOGS) expect(await seen(log)).toBe(0);
});

it("a recompute removes runs, memberships, signals and blocked transitions that the replay lacks", async () => {
  const flapping = snapshotOf({
    states: { new: [["on", happened("login")]], on: [["new", happened("login")]] },
    journeys: { other: { start: happened("a"), steps: [["paid", happened("paid")]], repeat: true } },
    segments: { former: happened("login"), both: happened("a") },
    signals: { former: { when: inSegment("former") }, both: { when: inSegment("both") } },
  });
  await recompute(flapping);
  const tables = ["journeys", "segments", "signals", "blocked"] as const;
  const before = await everything(environment);
  for (const table of tables) expect(before[table].length, table).toBeGreaterThan(3);
  await recompute(
    snapshotOf({
      states: { new: [["on", happened("login")]], on: [] },
      segments: { both: happened("a") },
      signals: { both: { when: inSegment("both") } },
    }),
  );
  const after = await everything(environment);
  expect(after.journeys).toEqual([]);
  expect(after.blocked).toEqual([]);
  for (const table of ["segments", "signals"] as const)
    expect(after[table]).toEqual(before[table].filter((row) => row.includes('"both"')));
});

it("a recompute keeps events, trait updates and traits byte for byte, including numbers beyond double precision", async () => {
  await environment.ingestText(
    [
      `{"type": "track", "customerId": "c001", "event": "paid", "properties": {"x": 12345678901234567890.123456789},
        "timestamp": "2026-01-05T00:00:00.123456Z"}`,
      `{"type": "identify", "customerId": "c001", "traits": {"big": 1234567890123456789012345, "plan": "pro"}}`,
    ],
    [
      { at: "2026-01-05T00:00:00.123Z", event: "paid", occurred: "2026-01-05T00:00:00.123Z" },
      { at: "2026-01-05T00:00:00.123Z" },
    ],
  );
  await environment.evaluate({ at: AT });
  const raw = async () => ({
    events: await db.sql`select to_json(e)::text as row, e.xmin::text from svc.events as e
      where environment_id = ${environment.environmentId} order by event_seq`,
    updates: await db.sql`select to_json(t)::text as row, t.xmin::text from svc.trait_updates as t
      where environment_id = ${environment.environmentId} order by operation_seq`,
    traits: await db.sql`select customer_id, traits::text, created_at::text from svc.customers
      where environment_id = ${environment.environmentId} order by customer_id`,
  });
  const before = await raw();
  expect(JSON.stringify(before)).toContain("12345678901234567890.123456789");
  expect(JSON.stringify(before.traits)).toContain("1234567890123456789012345");
  await recompute(CHANGED);
  await recompute({ ...declared(CHANGED), traits: {} });
  expect(await raw()).toEqual(before);
});
