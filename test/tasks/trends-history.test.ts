import { expect, it } from "vitest";
import { call } from "../../src/db/api/call.js";
import { countTrends } from "../../src/tasks/periodic-jobs.js";
import { useDatabase } from "../support/database.js";
import { violations } from "../support/invariants.js";
import { claim, createWebhook } from "../webhooks/support/fixtures.js";
import { TestEnvironment } from "./support/environment.js";
import { MODEL } from "./support/population.js";

const { sql } = await useDatabase();

it("deliveries of a release that did not count them are counted, also if a transaction delays the first count", async () => {
  const environment = await TestEnvironment.create(sql, MODEL);
  const { environmentId: id } = environment;
  await createWebhook(sql, id, "https://hooks.example.com/");
  await environment.send([{ customer: "c", at: "2026-05-01T00:00:00Z", event: "paid" }]);
  await environment.evaluate({ settleSeconds: 0 });
  const due = await claim(sql, "sender", 100);
  expect(due.length).toBeGreaterThan(0);
  const outcome = { latencyMs: 3, statusCode: 204, error: null, response: null, retryAfterSeconds: null };
  const attemptedAt = new Date().toISOString();
  await call(
    sql,
    "record_attempts",
    due.map((delivery) => ({ ...delivery, attemptedAt, ...outcome })),
  );
  await sql`delete from svc.trend_changes where environment_id = ${id}`;

  const count = () => countTrends(sql, new AbortController().signal);
  await sql.begin(async (tx) => {
    // The first count of an environment waits until what was running at its beginning has ended.
    await tx`select pg_current_xact_id()`;
    await count();
  });
  // What runs in other databases of the server delays it, too.
  const counted = async () => {
    await count();
    const rows = await sql`
      select measure, sum(count)::int as count from svc.all_trend_counts
      where environment_id = ${id} and measure in ('delivery', 'operation') group by measure order by measure`;
    return [...rows];
  };
  await expect.poll(counted, { timeout: 60_000 }).toEqual([
    { measure: "delivery", count: due.length },
    { measure: "operation", count: 1 },
  ]);
  expect(await violations(sql)).toEqual([]);
});
