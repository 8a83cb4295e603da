import { afterAll, beforeAll, expect, it } from "vitest";
import { createDatabase, rolledBack, type TestDatabase } from "../../support/database.js";

const ENVIRONMENT = 7;
const NOW = "2026-03-01T12:00:00Z";

let db: TestDatabase;

beforeAll(async () => {
  db = await createDatabase();
  // h for held, p for passed: whether the hold has ended.
  await db.sql`
    insert into svc.customers (environment_id, customer_id, created_at, next_due_at, held_until, set_aside_at)
    values
      (${ENVIRONMENT}, 'due', now(), ${NOW}, null, null),
      (${ENVIRONMENT}, 'not due', now(), '2026-03-01T12:00:00.001Z', null, null),
      (${ENVIRONMENT}, 'never due', now(), null, null, null),
      (${ENVIRONMENT}, 'due, set aside', now(), ${NOW}, null, now()),
      (${ENVIRONMENT}, 'due, held', now(), '2026-02-01Z', '2026-03-01T12:00:00.001Z', null),
      (${ENVIRONMENT}, 'due, held for a day', now(), '2026-02-01Z', ${NOW}, null),
      (${ENVIRONMENT}, 'not due, held for a day', now(), '2026-04-01Z', '2026-02-01Z', null),
      (${ENVIRONMENT}, 'due, waiting', now(), '2026-02-01Z', null, null),
      (${ENVIRONMENT}, 'due, ahead', now(), '2026-02-01Z', null, null),
      (${ENVIRONMENT + 1}, 'elsewhere', now(), '2026-02-01Z', null, null)`;
  await db.sql`
    insert into svc.inbox (environment_id, customer_id, seq, not_before)
    values (${ENVIRONMENT}, 'due, waiting', 1, null), (${ENVIRONMENT}, 'due, ahead', 2, '2026-02-01Z')`;
});
afterAll(() => db.drop());

async function due(settled: boolean, limit = 100): Promise<string[]> {
  const rows = await db.sql<{ id: string }[]>`
    select id from svc.due_customers(${ENVIRONMENT}, ${NOW}, ${settled}, ${limit}) as id order by id collate "C"`;
  return rows.map(({ id }) => id);
}

it("fires all that is due where the environment has settled", async () => {
  expect(await due(true)).toEqual(["due", "due, ahead", "due, held", "due, held for a day"]);
});

it("holds those of a backfill while it has not, for a day at most", async () => {
  expect(await due(false)).toEqual(["due", "due, ahead", "due, held for a day"]);
});

it.each([
  ["held", "interval '1 minute'", "interval '1 day'"],
  ["held long ago and not due", "interval '1 minute' * -1", "interval '1 day' * -1"],
])("does not read the customers that are %s, however many they are", async (_, sinceDue, untilFree) => {
  await rolledBack(db.sql, async (tx) => {
    await tx.unsafe(`
      insert into svc.customers (environment_id, customer_id, created_at, next_due_at, held_until)
      select ${ENVIRONMENT}, 'many ' || n, now(), '${NOW}'::timestamptz - ${sinceDue} * n, '${NOW}'::timestamptz + ${untilFree} * n
      from generate_series(1, 20000) as n`);
    await tx`analyze svc.customers`;
    const [row] = await tx<[{ "QUERY PLAN": [{ Plan: Record<string, number> }] }]>`
      explain (analyze, buffers, format json) select svc.due_customers(${ENVIRONMENT}, ${NOW}, false, 500)`;
    const { Plan } = row["QUERY PLAN"][0];
    expect(Plan["Shared Hit Blocks"]! + Plan["Shared Read Blocks"]!).toBeLessThan(100);
  });
});
