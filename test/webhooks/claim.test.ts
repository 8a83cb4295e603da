import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { claimDeliveries, type ClaimedDelivery } from "../../src/db/calls-deliveries.js";
import { createDatabase, rolledBack, type TestDatabase } from "../support/database.js";
import { clearWebhooks, createEnvironment, createWebhook, deliveriesOf, emit } from "./support/fixtures.js";

let db: TestDatabase;

beforeAll(async () => {
  db = await createDatabase();
});
afterEach(() => clearWebhooks(db.sql));
afterAll(() => db.drop());

const URL = "https://example.com/hooks";

function countByWebhook(claimed: ClaimedDelivery[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { webhookId } of claimed) counts[webhookId] = (counts[webhookId] ?? 0) + 1;
  return counts;
}

test("a claim answers all that sending needs, and numbers in the metadata keep every digit", async () => {
  const { sql } = db;
  const environment = await createEnvironment(sql);
  const { webhookId } = await createWebhook(sql, environment, URL);
  const metadata = '{"previous_lifecycle": null, "total": 12345678901234567890.10, "name": "Zoë \\"🎉\\""}';
  const [seq, timed] = await emit(sql, environment, [
    { metadata, causeId: "evt_0000000000000001", configVersion: 3 },
    { type: "segment.exited" },
  ]);
  const [claimed, second] = await claimDeliveries(sql, "worker", 10, 10);

  const eventId = `emi_${BigInt(seq!).toString(16).padStart(16, "0")}`;
  expect(claimed).toMatchObject({
    environmentId: environment,
    webhookId,
    emissionSeq: seq,
    attempt: 1,
    eventId,
    url: URL,
  });
  expect(claimed!.body).toContain("12345678901234567890.10");
  expect(JSON.parse(claimed!.body)).toEqual({
    id: eventId,
    type: "customer.activated",
    timestamp: "2026-03-02T10:00:00.123Z",
    data: {
      customerId: "customer_1",
      environment: "test",
      source: "lifecycle",
      metadata: JSON.parse(metadata),
      configVersion: "v3",
      cause: { type: "event", id: "evt_0000000000000001" },
      sequence: Number(seq),
    },
  });
  expect(JSON.parse(second!.body)).toMatchObject({
    type: "segment.exited",
    data: { configVersion: null, cause: { type: "timer", id: null }, sequence: Number(timed) },
  });
});

test("what is claimed is not claimed again until the claim has expired", async () => {
  const { sql } = db;
  const environment = await createEnvironment(sql);
  const { webhookId } = await createWebhook(sql, environment, URL);
  await emit(sql, environment, [{}]);
  expect(await claimDeliveries(sql, "first", 10, 10)).toHaveLength(1);
  expect(await claimDeliveries(sql, "second", 10, 10)).toEqual([]);
  expect(await deliveriesOf(sql, webhookId)).toMatchObject([{ claimed: true, status: "pending" }]);
  await sql`update svc.deliveries set claimed_until = now() - interval '1 second'`;
  expect(await claimDeliveries(sql, "second", 10, 10)).toMatchObject([{ webhookId, attempt: 1 }]);
  const [row] = await sql`select claimed_by from svc.deliveries where webhook_id = ${webhookId}`;
  expect(row!.claimed_by).toBe("second");
});

test("an endpoint has no more in flight than its limit, oldest first, however many workers claim at once", async () => {
  const { sql } = db;
  const environment = await createEnvironment(sql);
  await createWebhook(sql, environment, URL);
  const seqs = await emit(
    sql,
    environment,
    Array.from({ length: 30 }, () => ({})),
  );
  const claims = await Promise.all(
    Array.from({ length: 6 }, (_, worker) => claimDeliveries(sql, `worker ${worker}`, 4, 2)),
  );
  expect(
    claims
      .flat()
      .map((claimed) => claimed.emissionSeq)
      .sort(),
  ).toEqual(seqs.slice(0, 4));
  expect(await claimDeliveries(sql, "another", 4, 100)).toEqual([]);
  expect(await claimDeliveries(sql, "another", 6, 100)).toHaveLength(2);
});

test("room is shared fairly: those with the least in flight come first, however much waits elsewhere", async () => {
  const { sql } = db;
  const environment = await createEnvironment(sql);
  const loud = await createWebhook(sql, environment, URL, ["loud"]);
  await emit(
    sql,
    environment,
    Array.from({ length: 50 }, () => ({ type: "loud" })),
  );
  expect(countByWebhook(await claimDeliveries(sql, "worker", 10, 4))).toEqual({ [loud.webhookId]: 4 });

  const quiet = await createWebhook(sql, environment, URL, ["quiet"]);
  const rare = await createWebhook(sql, environment, URL, ["rare"]);
  await emit(sql, environment, [{ type: "rare" }, ...Array.from({ length: 50 }, () => ({ type: "quiet" }))]);
  const counts = countByWebhook(await claimDeliveries(sql, "worker", 10, 9));
  expect(counts).toEqual({ [quiet.webhookId]: 6, [rare.webhookId]: 1, [loud.webhookId]: 2 });
});

test("nothing is claimed that is not due yet, or whose webhook is disabled", async () => {
  const { sql } = db;
  const environment = await createEnvironment(sql);
  const later = await createWebhook(sql, environment, URL);
  const disabled = await createWebhook(sql, environment, URL);
  await emit(sql, environment, [{}]);
  await sql`update svc.deliveries set next_attempt_at = now() + interval '1 minute' where webhook_id = ${later.webhookId}`;
  await sql`update svc.webhooks set disabled_at = now() where webhook_id = ${disabled.webhookId}`;
  expect(await claimDeliveries(sql, "worker", 10, 10)).toEqual([]);
  await sql`update svc.webhooks set disabled_at = null where webhook_id = ${disabled.webhookId}`;
  expect(await claimDeliveries(sql, "worker", 10, 10)).toMatchObject([{ webhookId: disabled.webhookId }]);
});

/** 40 endpoints, a few of them with something due; one with 20,000 due and full, one with 20,000 retries later. */
async function fillQueue(): Promise<void> {
  const { sql } = db;
  const environment = await createEnvironment(sql);
  await sql`
    insert into svc.webhooks (environment_id, webhook_id, url, event_types, sealed_secret)
    select ${environment}::integer, 'whk_' || n, ${URL}, '{*}', 'sealed' from generate_series(1, 40) as n
  `;
  await sql`
    insert into svc.emissions (
      environment_id, emission_seq, customer_id, event_type, source, metadata, emitted_at, cause_type
    )
    select ${environment}::integer, n, 'customer', 'segment.entered', 'segment', '{}', now(), 'timer'
    from generate_series(1, 50000) as n
  `;
  await sql`
    insert into svc.deliveries (environment_id, webhook_id, emission_seq, next_attempt_at, claimed_until)
    select ${environment}::integer, 'whk_1', n, now() - interval '1 hour', case when n <= 10 then now() + interval '1 minute' end
    from generate_series(1, 20000) as n
    union all
    select ${environment}::integer, 'whk_2', n, now() + interval '1 hour', null from generate_series(1, 20000) as n
    union all
    select ${environment}::integer, 'whk_' || n, 1, now(), null from generate_series(3, 40) as n
  `;
  await sql`
    insert into svc.deliveries (environment_id, webhook_id, emission_seq, status, finished_at)
    select ${environment}::integer, 'whk_' || 1 + n % 40, n, 'delivered', now() from generate_series(30001, 50000) as n
  `;
}

test.each([
  ["without statistics", ""],
  ["with statistics", "analyze svc.deliveries"],
])("a claim reads by index, no more rows than it has endpoints and hands out, %s", async (_, prepare) => {
  const { sql } = db;
  await fillQueue();
  await sql.unsafe(prepare);
  const [before, claimed, after] = await rolledBack(sql, async (tx) => {
    const read = () => tx<{ scans: number; rows: number }[]>`
      select seq_scan::integer as scans, (seq_tup_read + idx_tup_fetch)::integer as rows
      from pg_stat_xact_user_tables
      where schemaname = 'svc' and relname = 'deliveries'
    `;
    const first = await read();
    const rows = await tx`select * from svc_api.claim_deliveries('worker', 10, 20)`;
    return [first[0]!, rows.length, (await read())[0]!] as const;
  });
  expect(claimed).toBe(20);
  expect(after.scans - before.scans).toBe(0);
  expect(after.rows - before.rows).toBeLessThan(500);
});
