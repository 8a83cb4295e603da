import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import type { Sql } from "postgres";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { connect } from "../../../src/db/connect.js";
import { migrate } from "../../../src/db/migrate/migrate.js";
import { hashCredential } from "../../../src/http/request/credentials.js";
import { withRetries } from "../../../src/http/ingest/retry.js";
import type { TestDatabase } from "../../support/database.js";
import { violations } from "../../support/invariants.js";
import { createEnvironment } from "../../webhooks/support/fixtures.js";
import { loadRelease, type Known } from "./fixture.js";
import { makeThisVersion } from "./next-version.js";

// Until 000003 all environments shared one sequence for calls. Calls of then may still be at work when the new functions come.

let root: string;
let db: TestDatabase;
let known: Known;
let others: Sql[];
beforeAll(async () => void (root = await makeThisVersion()));
afterAll(() => rm(root, { recursive: true, force: true }));
beforeEach(async () => {
  ({ database: db, known } = await loadRelease("000003"));
  others = [1, 2].map(() => connect(db.url, { max: 1, applicationName: "svc test caller" }));
});
afterEach(async () => {
  await Promise.all(others.map((sql) => sql.end()));
  await db.drop();
});

async function ingest(sql: Sql, batchId: string, key: string, repeated: boolean): Promise<void> {
  const event = { customerId: "globex", event: "login", properties: { method: "sso" }, idempotencyKey: key };
  const body = JSON.stringify({ events: [event] });
  await sql`select svc_api.ingest(${hashCredential(known.keys.test)}, ${batchId}, ${body}, false, ${repeated})`;
}

/** Where followers of the events are. */
async function followed(): Promise<bigint> {
  const [row] = await db.sql<[{ through: string }]>`
    select svc.accepted_through(environment_id) as through from svc.environments where name = 'test'`;
  return BigInt(row.through);
}

async function stored(key: string): Promise<bigint> {
  const [row] = await db.sql<[{ seq: string }]>`select event_seq as seq from svc.events where idempotency_key = ${key}`;
  return BigInt(row.seq);
}

async function waiting(): Promise<number> {
  const [row] = await db.sql<[{ n: number }]>`
    select count(*)::integer as n from pg_stat_activity
    where datname = current_database() and application_name = 'svc test caller' and wait_event_type = 'Lock'`;
  return row.n;
}

it("refuses a call that began before, to be made again, because followers of the events may be past its number", async () => {
  const [holder, caller] = others as [Sql, Sql];
  const batchId = randomUUID();
  let late: Promise<unknown> | undefined;
  const held = holder.begin(async (tx) => {
    await tx`
      insert into svc.idempotency_keys
      select environment_id, 'late', 0, 0, now() from svc.environments where name = 'test'`;
    // It has its number, and waits for who stores the same key.
    late = ingest(caller, batchId, "late", false).catch((error: unknown) => (error as { code: string }).code);
    await expect.poll(waiting, { timeout: 10_000 }).toBe(1);
    await migrate(db.url, { root });
    await ingest(db.sql, randomUUID(), "later", false);
    throw new Error("taken back");
  });
  await expect(held).rejects.toThrow("taken back");
  expect(await late).toBe("40001");
  const passed = await followed();
  expect(passed).toBeGreaterThanOrEqual(await stored("later"));
  await ingest(caller, batchId, "late", true);
  expect(await stored("late")).toBeGreaterThan(passed);
  expect(await violations(db.sql)).toEqual([]);
});

it("neither loses an event nor hides one from followers while calls come in", { timeout: 60_000 }, async () => {
  const caller = connect(db.url, { max: 6, applicationName: "svc test caller" });
  try {
    const work = { ending: false };
    const accepted: string[] = [];
    const callers = Array.from({ length: 5 }, async (_, number) => {
      for (let n = 0, more = 20; more > 0; n++) {
        if (work.ending) more--;
        const key = `call-${number}-${n}`;
        // As a process of the service does.
        await withRetries(
          ({ batchId, repeated }) => ingest(caller, batchId, key, repeated),
          () => true,
        );
        accepted.push(key);
      }
    });
    const seen: string[] = [];
    let after = await followed();
    const follow = async (): Promise<void> => {
      const through = await followed();
      const rows = await db.sql<{ key: string }[]>`
        select e.idempotency_key as key from svc.events as e join svc.environments as n using (environment_id)
        where n.name = 'test' and e.event_seq > ${String(after)} and e.event_seq <= ${String(through)} order by e.event_seq`;
      seen.push(...rows.map(({ key }) => key));
      if (through > after) after = through;
    };
    const follower = (async () => {
      while (!work.ending) await follow();
    })();
    await expect.poll(() => accepted.length, { timeout: 20_000 }).toBeGreaterThan(50);
    await migrate(db.url, { root });
    work.ending = true;
    await Promise.all([...callers, follower]);
    await follow();
    expect(seen.toSorted()).toEqual(accepted.toSorted());
    expect(await violations(db.sql)).toEqual([]);
  } finally {
    await caller.end();
  }
});

it("lets every environment begin above what the shared sequences gave, also one that is made after it", async () => {
  await migrate(db.url, { root });
  await createEnvironment(db.sql);
  const rows = await db.sql<{ above: boolean }[]>`
    select
      pg_sequence_last_value(svc.batch_seq(environment_id)) > pg_sequence_last_value('svc.batch_seq') + 100000000
      and pg_sequence_last_value(svc.evaluation_seq(environment_id)) > pg_sequence_last_value('svc.evaluation_seq') + 100000000 as above
    from svc.environments`;
  expect(rows.map(({ above }) => above)).toEqual([true, true, true]);
});
