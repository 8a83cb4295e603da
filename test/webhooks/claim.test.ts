import type { Sql } from "postgres";
import { expect, test } from "vitest";
import { call } from "../../src/db/api/call.js";
import { claimDeliveries, type ClaimedDelivery, testWebhook } from "../../src/db/api/webhooks.js";
import { emissionIdOf } from "../../src/engine/ids.js";
import { rolledBack } from "../support/database.js";
import { TestEnvironment } from "../tasks/support/environment.js";
import {
  addEnvironment,
  claim,
  useWebhooks,
  createEnvironment,
  createWebhook,
  emit,
  expireLeases,
  newEndpoint,
} from "./support/fixtures.js";

const sql = await useWebhooks();

const URL = "https://example.com/hooks";

function countByWebhook(claimed: ClaimedDelivery[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { webhookId } of claimed) counts[webhookId] = (counts[webhookId] ?? 0) + 1;
  return counts;
}

test("a claim returns all that sending needs, with a null cause for timers", async () => {
  const { environment, webhookId } = await newEndpoint(sql);
  const [emissionSeq] = await emit(sql, environment, [{ type: "segment.exited" }]);
  const [claimed] = await claim(sql, "worker", 10);
  const eventId = emissionIdOf(Number(emissionSeq));
  expect(claimed).toMatchObject({ environmentId: environment, webhookId, emissionSeq, attempt: 1, eventId, url: URL });
  const data = { configVersion: null, cause: { type: "timer", id: null }, sequence: Number(emissionSeq) };
  expect(JSON.parse(claimed!.body)).toMatchObject({ id: eventId, type: "segment.exited", data });
});

test("the time of a webhook test is the database's, whatever date style the session uses", async () => {
  const { environmentId, by, place } = await TestEnvironment.create(sql);
  const { webhookId } = await createWebhook(sql, environmentId, URL);
  const { at } = await rolledBack(sql, async (tx) => {
    await tx.unsafe("set local datestyle = 'SQL, DMY'; set local timezone = 'Asia/Kolkata'");
    return testWebhook(tx as unknown as Sql, by, place, webhookId, { id: "test_1", type: "webhook.test" });
  });
  expect(Math.abs(at.getTime() - Date.now())).toBeLessThan(60_000);
});

test("one worker at a time delivers to a webhook: others get nothing until its lease expires", async () => {
  const { environment, webhookId } = await newEndpoint(sql);
  await emit(sql, environment, 2);
  expect(await claim(sql, "first", 1)).toHaveLength(1);
  expect(await claim(sql, "second", 10)).toEqual([]);
  const held = await claim(sql, "first", 10);
  expect(held).toHaveLength(2);
  await expireLeases(sql);
  expect(await claim(sql, "first", 10, { held }), "a claim renews it while deliveries are held").toEqual([]);
  expect(await claim(sql, "second", 10)).toEqual([]);
  await expireLeases(sql);
  expect(await claim(sql, "second", 10)).toMatchObject([{ webhookId, attempt: 1 }, { webhookId }]);
  expect(await claim(sql, "first", 10)).toEqual([]);
  await call(sql, "release_webhooks", "second");
  expect(await claim(sql, "first", 10)).toHaveLength(2);
});

test("the lease of a webhook that is disabled is renewed while deliveries are held, and nothing more is handed out", async () => {
  const { environment, webhookId } = await newEndpoint(sql);
  await emit(sql, environment, 2);
  const held = await claim(sql, "first", 1);
  const disable = () =>
    sql`update svc.webhooks set disabled_at = now(), disabled_reason = 'test' where webhook_id = ${webhookId}`;
  const enable = () =>
    sql`update svc.webhooks set disabled_at = null, disabled_reason = null where webhook_id = ${webhookId}`;
  await disable();
  await expireLeases(sql);
  expect(await claim(sql, "first", 10, { held })).toEqual([]);
  await enable();
  expect(await claim(sql, "second", 10)).toEqual([]);
  // Of nothing that is held, none.
  await disable();
  await expireLeases(sql);
  expect(await claim(sql, "first", 10)).toEqual([]);
  await enable();
  expect(await claim(sql, "second", 10)).toHaveLength(2);
});

test("a lease of more than two lease times, from before the database's clock was set back, keeps nothing waiting", async () => {
  const { environment, webhookId } = await newEndpoint(sql);
  await emit(sql, environment, 1);
  expect(await claim(sql, "dead", 1)).toHaveLength(1);
  const lasts = (time: string) => sql`
    update svc.webhooks set leased_until = now() + ${time}::text::interval where webhook_id = ${webhookId}`;
  await lasts("25 seconds");
  expect(await claim(sql, "alive", 1)).toEqual([]);
  await lasts("1 day");
  expect(await claim(sql, "alive", 1)).toMatchObject([{ webhookId }]);
  // Its own, too, is replaced by one from now.
  await lasts("1 day");
  expect(await claim(sql, "alive", 2)).toHaveLength(1);
  expect(await sql`select leased_until < now() + interval '16 seconds' as renewed from svc.webhooks`).toEqual([
    { renewed: true },
  ]);
});

test("held deliveries are not handed out again, and each webhook gets no more than its room, oldest first", async () => {
  const { environment, webhookId } = await newEndpoint(sql);
  const seqs = await emit(sql, environment, 30);
  const claimed = await claim(sql, "worker", 100, { each: 8 });
  expect(claimed.map(({ emissionSeq }) => emissionSeq)).toEqual(seqs.slice(0, 8));
  expect(await claim(sql, "worker", 100, { held: claimed, each: 8 })).toEqual([]);
  const more = await claim(sql, "worker", 100, { held: claimed.slice(2), each: 8 });
  expect(more.map(({ emissionSeq }) => emissionSeq)).toEqual(seqs.slice(0, 2));
  // Separate room for a webhook that the worker knows.
  const limited = { held: claimed, rooms: [{ webhookId, room: 3 }], firstLimit: 8, total: 100, failingTotal: 0 };
  const after = await claimDeliveries(sql, "worker", limited);
  expect(after.map(({ emissionSeq }) => emissionSeq)).toEqual(seqs.slice(8, 11));
});

test("one emission to two webhooks is two deliveries: while one is held, the other is handed out", async () => {
  const { environment } = await newEndpoint(sql);
  await createWebhook(sql, environment, URL);
  await emit(sql, environment, 1);
  const [first, second] = await claim(sql, "worker", 10);
  expect(await claim(sql, "worker", 10, { held: [first!] })).toMatchObject([{ webhookId: second!.webhookId }]);
});

test("a failing webhook gets one delivery, and all failing ones no more than requested", async () => {
  const environment = await createEnvironment(sql);
  for (let n = 0; n < 5; n++) await createWebhook(sql, environment, URL, ["failing"]);
  await emit(sql, environment, [{ type: "failing" }, { type: "failing" }]);
  await sql`update svc.webhooks set failing_since = now()`;
  const good = await createWebhook(sql, environment, URL, ["good"]);
  await emit(sql, environment, [{ type: "good" }, { type: "good" }]);
  const claimed = await claim(sql, "worker", 100, { failingTotal: 3 });
  expect(claimed.filter(({ failing }) => failing)).toHaveLength(3);
  expect(countByWebhook(claimed.filter(({ failing }) => !failing))).toEqual({ [good.webhookId]: 2 });
  expect(Math.max(...Object.values(countByWebhook(claimed.filter(({ failing }) => failing))))).toBe(1);
});

test("each webhook is handed out to only one of several concurrent workers", async () => {
  const environment = await createEnvironment(sql);
  for (let n = 0; n < 20; n++) await createWebhook(sql, environment, URL);
  await emit(sql, environment, 2);
  const claims = await Promise.all(Array.from({ length: 8 }, (_, worker) => claim(sql, `worker ${worker}`, 10)));
  const owners = claims.flatMap((claim, worker) =>
    [...new Set(claim.map(({ webhookId }) => webhookId))].map((webhookId) => ({ webhookId, worker })),
  );
  expect(new Set(owners.map(({ webhookId }) => webhookId)).size).toBe(owners.length);
  expect(owners.length).toBeGreaterThan(0);
});

test("room is shared fairly: webhooks with the least in flight come first, however much is pending elsewhere", async () => {
  const environment = await createEnvironment(sql);
  const loud = await createWebhook(sql, environment, URL, ["loud"]);
  await emit(sql, environment, Array<object>(50).fill({ type: "loud" }));
  const held = await claim(sql, "worker", 4);
  expect(countByWebhook(held)).toEqual({ [loud.webhookId]: 4 });

  const quiet = await createWebhook(sql, environment, URL, ["quiet"]);
  const rare = await createWebhook(sql, environment, URL, ["rare"]);
  await emit(sql, environment, [{ type: "rare" }, ...Array.from({ length: 50 }, () => ({ type: "quiet" }))]);
  const counts = countByWebhook(await claim(sql, "worker", 9, { held }));
  expect(counts).toEqual({ [quiet.webhookId]: 6, [rare.webhookId]: 1, [loud.webhookId]: 2 });
});

test("an environment's deliveries are handed out although another one has more webhooks than there is room, which were due before", async () => {
  const environment = await createEnvironment(sql);
  for (let n = 0; n < 4; n++) await createWebhook(sql, environment, URL, ["failing"]);
  await emit(sql, environment, [{ type: "failing" }]);
  await sql`update svc.webhooks set failing_since = now() where environment_id = ${environment}`;
  for (let n = 0; n < 10; n++) await createWebhook(sql, environment, URL, ["good"]);
  await emit(sql, environment, [{ type: "good" }]);
  const quiet = await newEndpoint(sql);
  await emit(sql, quiet.environment, 1);
  const claimed = await claim(sql, "worker", 4, { failingTotal: 4 });
  expect(claimed).toHaveLength(4);
  expect(claimed.map(({ webhookId }) => webhookId)).toContain(quiet.webhookId);
});

test("so are an organization's, although another one has more environments than there is room; these take turns, too", async () => {
  const many = [await createEnvironment(sql)];
  for (let n = 0; n < 9; n++) many.push(await addEnvironment(sql, many[0]!));
  const [loud] = many;
  for (let n = 0; n < 9; n++) await createWebhook(sql, loud!, URL);
  await emit(sql, loud!, 1);
  for (const environment of many.slice(1)) {
    await createWebhook(sql, environment, URL);
    await emit(sql, environment, 1);
  }
  const quiet = await newEndpoint(sql);
  await emit(sql, quiet.environment, 1);
  const claimed = await claim(sql, "worker", 4);
  expect(claimed.map(({ webhookId }) => webhookId)).toContain(quiet.webhookId);
  expect(new Set(claimed.map(({ environmentId }) => environmentId)).size).toBe(4);
});

test("nothing is claimed that is not due yet, or whose webhook is disabled or deleted", async () => {
  const { environment, webhookId: later } = await newEndpoint(sql);
  const [disabled, deleted] = [await createWebhook(sql, environment, URL), await createWebhook(sql, environment, URL)];
  await emit(sql, environment, 2);
  await sql`update svc.deliveries set next_attempt_at = now() + interval '1 minute' where webhook_id = ${later}`;
  await sql`update svc.webhooks set deleted_at = now() where webhook_id = ${deleted.webhookId}`;
  const change = (values: object) =>
    sql`update svc.webhooks set ${sql(values)} where webhook_id = ${disabled.webhookId}`;
  await change({ disabled_at: new Date(), disabled_reason: "test" });
  expect(await claim(sql, "worker", 10)).toEqual([]);
  await change({ disabled_at: null, disabled_reason: null });
  expect(countByWebhook(await claim(sql, "worker", 10))).toEqual({ [disabled.webhookId]: 2 });
});

/** Adds 40 webhooks, a few with something due; one with 5,000 due, which fills the answer, and one with 5,000 due later. */
async function fillQueue(): Promise<void> {
  const environment = await createEnvironment(sql);
  await sql`
    insert into svc.webhooks (environment_id, webhook_id, url, event_types, sealed_secret)
    select ${environment}::integer, 'whk_' || n, ${URL}, '{*}', 'sealed' from generate_series(1, 40) as n`;
  await sql`
    insert into svc.emissions (
      environment_id, emission_seq, customer_id, event_type, source, metadata, emitted_at, cause_type
    )
    select ${environment}::integer, n, 'customer', 'segment.entered', 'segment', '{}', now(), 'timer'
    from generate_series(1, 10000) as n`;
  await sql`
    insert into svc.deliveries (environment_id, webhook_id, emission_seq, next_attempt_at)
    select ${environment}::integer, 'whk_' || k, n, now() + (k * 2 - 3) * interval '1 hour'
    from generate_series(1, 5000) as n, generate_series(1, 2) as k
    union all
    select ${environment}::integer, 'whk_' || n, 1, now() from generate_series(3, 40) as n`;
  await sql`
    insert into svc.deliveries (environment_id, webhook_id, emission_seq, status, finished_at)
    select ${environment}::integer, 'whk_' || 1 + n % 40, n, 'delivered', now() from generate_series(5001, 10000) as n`;
}

test("a claim reads by index, no more rows than its endpoints and deliveries, with and without statistics", async () => {
  await fillQueue();
  const held = Array.from({ length: 20 }, (_, n) => ({ webhook: "whk_1", emission: String(n + 1) }));
  for (const prepare of ["select", "analyze svc.deliveries"]) {
    await sql.unsafe(prepare);
    const [before, claimed, after] = await rolledBack(sql, async (tx) => {
      const read = () => tx<{ scans: number; rows: number }[]>`
      select seq_scan::integer as scans, (seq_tup_read + idx_tup_fetch)::integer as rows
      from pg_stat_xact_user_tables
      where schemaname = 'svc' and relname = 'deliveries'`;
      const first = await read();
      const rows = await tx`
      select * from svc_api.claim_deliveries(
        'worker', ${held.map(({ webhook }) => webhook)}::text[], ${held.map(({ emission }) => emission)}::bigint[], '{}', '{}', 100, 20, 20
      )`;
      return [first[0]!, rows.length, (await read())[0]!] as const;
    });
    expect(claimed).toBe(20);
    expect(after.scans - before.scans).toBe(0);
    expect(after.rows - before.rows).toBeLessThan(500);
  }
});
