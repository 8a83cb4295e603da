import { afterEach, beforeEach, describe, expect, it } from "vitest";
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

/** All rows of a log, superseded ones too, with their generation. */
async function rowsOf(log: (typeof LOGS)[number]): Promise<{ generation: number; customer: string; row: string }[]> {
  return db.sql`
    select t.generation, t.customer_id as customer, to_json(t)::text as row from svc.${db.sql(log)} as t
    where t.environment_id = ${environment.environmentId} order by 3`;
}

/** The number of rows of a log that a reader sees. */
async function seen(log: (typeof LOGS)[number]): Promise<number> {
  const [{ rows }] = await db.sql<[{ rows: number }]>`
    select count(*)::integer as rows from svc_inspect.${db.sql(log)} where project = ${environment.place.project}`;
  return rows;
}

describe("the log", () => {
  it.each(LOGS)("of %s keeps former rows unchanged, and counts only those of the new generation", async (log) => {
    const before = await rowsOf(log);
    expect(before.length).toBeGreaterThan(10);
    expect(new Set(before.map(({ generation }) => generation))).toEqual(new Set([0]));
    await recompute(CHANGED);
    const after = await rowsOf(log);
    expect(after.filter(({ generation }) => generation === 0)).toEqual(before);
    const present = after.filter(({ generation }) => generation === 1);
    expect(present.length).toBeGreaterThan(10);
    expect(after).toHaveLength(before.length + present.length);
    expect(await seen(log)).toBe(present.length);
    await recompute(MODEL);
    const third = await rowsOf(log);
    expect(third.filter(({ generation }) => generation < 2)).toEqual(after);
    expect(await seen(log)).toBe(third.length - after.length);
    // A model with nothing to log.
    await recompute(snapshotOf({ segments: { frequent: count("login", "gte", 3) } }));
    expect(await rowsOf(log)).toEqual(third);
    expect(await seen(log)).toBe(0);
  });

  it("of health counts one record, that of the current score", async () => {
    await recompute(CHANGED);
    const rows = await db.sql`
      select c.customer_id, count(s.*)::integer as records,
        bool_and(s.overall = c.health_overall and s.band = c.health_band and s.components::text = (c.health -> 'components')::text) as same
      from svc.customers as c
      left join svc.health_scores as s using (environment_id, customer_id, generation)
      where c.environment_id = ${environment.environmentId} and c.health is not null
      group by c.customer_id order by c.customer_id`;
    expect(rows).toEqual(CUSTOMERS.map((customer) => ({ customer_id: customer, records: 1, same: true })));
  });

  it("grows by live evaluation afterwards", async () => {
    await recompute(CHANGED);
    const before = new Map<string, number>();
    for (const log of LOGS) before.set(log, await seen(log));
    const at = "2026-03-01T06:00:00.000Z";
    await environment.ingest(
      CUSTOMERS.flatMap((customer) =>
        ["login", "login", "login", "a", "paid"].map((event) => ({ customer, at, event, properties: { x: 1 } })),
      ),
    );
    await environment.evaluate({ at });
    for (const log of LOGS) {
      const after = await rowsOf(log);
      expect(await seen(log), log).toBe(after.filter(({ generation }) => generation === 1).length);
      expect(await seen(log), log).toBeGreaterThanOrEqual(before.get(log)! + CUSTOMERS.length / 3);
    }
  });
});

describe("a recompute", () => {
  it("removes runs, memberships, signals and blocked transitions that the replay lacks", async () => {
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

  it("keeps events, trait updates and traits byte for byte, including numbers beyond double precision", async () => {
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
});
