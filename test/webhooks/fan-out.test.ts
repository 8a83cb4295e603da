import { expect, test } from "vitest";
import { lockWaiter } from "../support/locks.js";
import { useWebhooks, createEnvironment, createWebhook, deliveriesOf, emit, emitWithin } from "./support/fixtures.js";

const sql = await useWebhooks();

const URL = "https://example.com/hooks";
const TYPES = [
  ...["customer", "customer.activated", "customer.activated.again", "customer.churned"],
  ...["customers.activated", "segment.entered"],
];

test.each([
  [["customer.activated"], ["customer.activated"]],
  [["customer.*"], ["customer.activated", "customer.activated.again", "customer.churned"]],
  [["*"], TYPES],
  [["segment.exited", "customer.activated"], ["customer.activated"]],
  [["customer.%"], []],
  [["customer._ctivated"], []],
  [["*.activated"], []],
])("a webhook that subscribes to %j receives %j", async (patterns, wanted) => {
  const environment = await createEnvironment(sql);
  const { webhookId } = await createWebhook(sql, environment, URL, patterns);
  const seqs = await emit(
    sql,
    environment,
    TYPES.map((type) => ({ type })),
  );
  const delivered = (await deliveriesOf(sql, webhookId)).map(({ emission_seq }) => TYPES[seqs.indexOf(emission_seq)]);
  expect(delivered).toEqual(wanted);
  // Resending uses this function, and must match the same.
  const rows = await sql`
    select type from unnest(${TYPES}::text[]) with ordinality as t (type, n)
    where svc.webhook_wants(${patterns}, null, type, now(), now()) order by n`;
  expect(rows.map(({ type }) => type as string)).toEqual(wanted);
});

test("webhooks are not matched separately for every emission", async () => {
  const environment = await createEnvironment(sql);
  await Promise.all(
    Array.from({ length: 20 }, () => createWebhook(sql, environment, URL, ["segment.*"], { maxEventAge: "7d" })),
  );
  const calls = await sql.begin(async (tx) => {
    await tx`set local track_functions = 'all'`;
    await emitWithin(tx, environment, [{ type: "segment.entered", age: "1 day" }, ...Array<object>(500).fill({})]);
    return tx<{ funcname: string; calls: string }[]>`select funcname, calls from pg_stat_xact_user_functions`;
  });
  expect(calls.map(({ funcname }) => funcname)).toContain("fan_out");
  for (const { funcname, calls: count } of calls) expect(Number(count), funcname).toBeLessThan(500);
  expect(await sql`select from svc.deliveries`).toHaveLength(20);
});

test("every emission becomes a pending delivery for each webhook of its environment that receives its type", async () => {
  const [environment, other] = [await createEnvironment(sql), await createEnvironment(sql)];
  const all = await createWebhook(sql, environment, URL);
  const segments = await createWebhook(sql, environment, URL, ["segment.*", "segment.entered"]);
  const elsewhere = await createWebhook(sql, other, URL);
  const disabled = await createWebhook(sql, environment, URL);
  await sql`update svc.webhooks set disabled_at = now(), disabled_reason = 'test' where webhook_id = ${disabled.webhookId}`;
  const seqs = await emit(sql, environment, [{ type: "customer.activated" }, { type: "segment.entered" }]);

  expect((await deliveriesOf(sql, all.webhookId)).map((row) => row.emission_seq)).toEqual(seqs);
  const [entered, ...more] = await deliveriesOf(sql, segments.webhookId);
  expect(entered).toMatchObject({ emission_seq: seqs[1], status: "pending", attempts: 0 });
  expect(more).toEqual([]);
  for (const { webhookId } of [elsewhere, disabled]) expect(await deliveriesOf(sql, webhookId)).toEqual([]);
});

test("a webhook with a maxEventAge receives no event that was older when it was written", async () => {
  const environment = await createEnvironment(sql);
  const ages = ["-3 minutes", "1 hour", "2 hours", "6 days 23 hours", "7 days", "7 days 1 second", "8 days"];
  const limits = { "1m": 1, "90m": 2, "7d": 5, "168h": 5, "1w": 5 };
  const webhooks = await Promise.all(
    Object.entries(limits).map(async ([maxEventAge, received]) => ({
      received,
      ...(await createWebhook(sql, environment, URL, ["*"], { maxEventAge })),
    })),
  );
  webhooks.push({ received: ages.length, ...(await createWebhook(sql, environment, URL)) });
  const seqs = await emit(
    sql,
    environment,
    ages.map((age) => ({ age })),
  );
  for (const { webhookId, received } of webhooks)
    expect((await deliveriesOf(sql, webhookId)).map((row) => row.emission_seq)).toEqual(seqs.slice(0, received));
});

test("several batches of an environment are fanned out at once, and listeners are notified", async () => {
  const environment = await createEnvironment(sql);
  const { webhookId } = await createWebhook(sql, environment, URL);
  let notify = (): void => undefined;
  const notified = new Promise<void>((resolve) => (notify = resolve));
  await sql.listen("svc_deliveries", () => notify());
  await sql.begin(async (tx) => {
    await tx`
      insert into svc.emissions (environment_id, emission_seq, customer_id, event_type, source, metadata, emitted_at, cause_type)
      select h.environment_id, seq * 65536 + position, 'c', 'segment.entered', 'segment', '{}', now(), 'timer'
      from svc.homes as h, unnest(array[1000, 1001]::bigint[]) as seq, unnest(array[0, 1, 65535]) as position
      where h.environment_id = ${environment}`;
    await tx`select svc.fan_out(${environment}, '{1000,1001}')`;
  });
  await notified;
  expect(await deliveriesOf(sql, webhookId)).toHaveLength(6);
});

test("a webhook receives what a recompute wrote after its creation, which lies in the future if the database's clock was ahead", async () => {
  const environment = await createEnvironment(sql);
  const times = ["-1 minute", "30 seconds", "1 day"];
  const webhooks = await Promise.all(times.map(() => createWebhook(sql, environment, URL)));
  for (const [index, { webhookId }] of webhooks.entries())
    await sql`update svc.webhooks set created_at = now() + ${times[index]!}::interval where webhook_id = ${webhookId}`;
  await sql.begin(async (tx) => {
    await tx`
      insert into svc.emissions (environment_id, emission_seq, customer_id, event_type, source, metadata, emitted_at, cause_type)
      select h.environment_id, 65536, 'c', 'segment.entered', 'segment', '{}', now(), 'job'
      from svc.homes as h where h.environment_id = ${environment}`;
    await tx`select svc.fan_out(${environment}, '{1}')`;
  });
  const received = await Promise.all(
    webhooks.map(async ({ webhookId }) => (await deliveriesOf(sql, webhookId)).length),
  );
  expect(received).toEqual([1, 0, 1]);
});

test("a webhook that is created while emissions are fanned out receives no message in another format than its own", async () => {
  const environment = await createEnvironment(sql);
  const { webhookId } = await createWebhook(sql, environment, URL);
  const [first] = await emit(sql, environment, 1);
  const fanned = await sql.reserve();
  await fanned`begin`;
  const [{ seq }] = await fanned<[{ seq: string }]>`select ${first!}::bigint / 65536 + 1 as seq`;
  await fanned`
    insert into svc.emissions (environment_id, emission_seq, customer_id, event_type, source, metadata, emitted_at, cause_type)
    select h.environment_id, ${seq}::bigint * 65536, 'c', 'segment.entered', 'segment', '{}', now(), 'timer'
    from svc.homes as h where h.environment_id = ${environment}`;
  let chat = "";
  let fanning: Promise<unknown> = Promise.resolve();
  await sql.begin(async (tx) => {
    // The function begins, and waits for what becomes of the delivery of the first emission.
    await tx`delete from svc.deliveries where webhook_id = ${webhookId}`;
    fanning = fanned`select svc.fan_out(${environment}, array[${seq}::bigint - 1, ${seq}::bigint])`.execute();
    await lockWaiter(tx, "%fan_out%");
    chat = (await createWebhook(sql, environment, URL, ["*"], { format: "slack" })).webhookId;
  });
  await fanning;
  await fanned`commit`;
  fanned.release();
  const bodies = await sql<{ body: string | null }[]>`
    select b.body from svc.deliveries as d
    left join svc.delivery_bodies as b using (environment_id, webhook_id, emission_seq)
    where d.webhook_id = ${chat}`;
  expect(bodies.map(({ body }) => (body === null ? null : Object.keys(JSON.parse(body) as object)))).toEqual([
    ["text"],
  ]);
});
