import { randomUUID } from "node:crypto";
import { beforeEach, expect, it } from "vitest";
import { call } from "../../src/db/api/call.js";
import { countTrends } from "../../src/tasks/periodic-jobs.js";
import { useDatabase } from "../support/database.js";
import { violations } from "../support/invariants.js";
import { lockWaiter } from "../support/locks.js";
import { TestEnvironment } from "./support/environment.js";

// Changing a key's usage simulates a crash on a cluster between the commits of the node and of the coordinator;
// test/db/citus/commit.test.ts produces such a crash.

const db = await useDatabase();
let environment: TestEnvironment;
let sent = 0;

beforeEach(async () => {
  environment = await TestEnvironment.create(db.sql);
});

const send = (events: number) =>
  environment.send(
    Array.from({ length: events }, () => ({ at: new Date().toISOString(), event: "login", key: `k${sent++}` })),
  );
const recount = (rows = 1_000) => call(db.sql, "recount_usage", environment.environmentId, rows);

async function used(): Promise<number> {
  const [row] = await db.sql<[{ events: number }]>`
    select sum(u.month_events)::integer as events
    from svc.api_keys as k
    join svc.key_usage as u on u.key_hash = k.key_hash
    where k.environment_id = ${environment.environmentId} and u.month = svc.month_of(now())`;
  return row.events;
}

const addToUsage = (events: number) =>
  db.sql`update svc.key_usage set month_events = month_events + ${events} where key_hash = ${environment.keyHash}`;

it("operations stored but not counted are added to the month's usage once, also by the sweep that counts trends", async () => {
  await send(5);
  await addToUsage(-3);
  expect(await violations(db.sql)).toEqual([expect.stringMatching(/^usage_is_what_was_stored/)]);
  expect(await recount()).toBe(0);
  expect(await used()).toBe(5);
  await recount();
  await send(2);
  await recount();
  expect(await used()).toBe(7);
  await addToUsage(-2);
  await recount();
  expect(await used()).toBe(7);
  expect(await violations(db.sql)).toEqual([]);
  await send(1);
  await addToUsage(-3);
  await countTrends(db.sql, new AbortController().signal);
  expect(await used()).toBe(8);
});

it("a month that began only because the database's clock was ahead ends when that is set right", async () => {
  await send(4);
  await environment.ingest([{ at: new Date(Date.now() + 62 * 86_400_000).toISOString(), event: "login" }]);
  await recount();
  const month = db.sql`svc.month_of(now() + interval '62 days')`;
  await db.sql`update svc.usage_checks set month = ${month}, month_events = 1`;
  await db.sql`
    update svc.key_usage set month = ${month}, month_events = 1, refilled_at = now() + interval '62 days'
    where key_hash = ${environment.keyHash}`;
  await send(2);
  expect(await used(), "of the call that ends it").toBe(2);
  await send(1);
  await recount();
  expect(await used()).toBe(7);
  expect(await violations(db.sql)).toEqual([]);
});

it("a call that waited while a later one began the next month leaves that month's count", async () => {
  await send(1);
  const { late } = await db.sql.begin(async (tx) => {
    await tx`select from svc.key_usage where key_hash = ${environment.keyHash} for update`;
    const late = send(1);
    await lockWaiter(db.sql, "%svc_api.ingest(%");
    // Ten seconds later than the waiting call began, and not later than it will be when that continues.
    await tx`
      update svc.key_usage
      set month = month + interval '1 month', month_events = 500, refilled_at = clock_timestamp() + interval '10 seconds'
      where key_hash = ${environment.keyHash}`;
    return { late };
  });
  await late;
  const [row] =
    await db.sql`select month_events::integer as events from svc.key_usage where key_hash = ${environment.keyHash}`;
  expect(row).toEqual({ events: 500 });
});

it("calls of another month are not counted, and the first ones of this month are even if none of them was", async () => {
  await environment.ingest([{ at: new Date(Date.now() - 40 * 86_400_000).toISOString(), event: "login" }]);
  await send(4);
  await db.sql`
    update svc.key_usage set month = month - interval '1 month', month_events = 900 where key_hash = ${environment.keyHash}`;
  await db.sql`
    insert into svc.usage_checks (environment_id, month, month_events)
    values (${environment.environmentId}, svc.month_of(now() - interval '1 month'), 900)`;
  await recount();
  expect(await used()).toBe(4);
  await db.sql`delete from svc.ingest_batches where environment_id = ${environment.environmentId}`;
  await recount();
  expect(await used(), "operations removed by retention stay counted").toBe(4);
});

it("a long history is read in pieces, and compared at the end", async () => {
  for (let calls = 0; calls < 5; calls++) await send(1);
  await addToUsage(-5);
  expect([await recount(2), await recount(2), await used()]).toEqual([2, 2, 0]);
  expect([await recount(2), await used()]).toEqual([0, 5]);
});

it("a recount waits for a call that is about to commit, and counts it once", async () => {
  await send(1);
  let recounted: Promise<number> | undefined;
  await db.sql.begin(async (tx) => {
    const body = JSON.stringify({ events: [{ type: "track", customerId: "ann", event: "login" }] });
    await tx`select svc_api.ingest(${environment.keyHash}, ${randomUUID()}, ${body}, false)`;
    recounted = recount();
    await lockWaiter(db.sql, "%recount_usage%");
  });
  await recounted;
  expect(await used()).toBe(2);
});

it("calls during a recount are neither missed nor counted twice", async () => {
  const senders = Array.from({ length: 4 }, async () => {
    for (let calls = 0; calls < 12; calls++) {
      await send(2);
      await recount(7);
    }
  });
  await Promise.all(senders);
  expect(await used()).toBe(96);
  while ((await recount(7)) > 0);
  expect(await used()).toBe(96);
});
