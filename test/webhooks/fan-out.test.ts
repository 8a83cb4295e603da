import { expect, test } from "vitest";
import { useWebhooks, createEnvironment, createWebhook, deliveriesOf, emit, emitWithin } from "./support/fixtures.js";

const sql = await useWebhooks();

const URL = "https://example.com/hooks";

test.each([
  [["customer.activated"], "customer.activated", true],
  [["customer.activated"], "customer.activated.again", false],
  [["customer.*"], "customer.activated", true],
  [["customer.*"], "customer", false],
  [["customer.*"], "customers.activated", false],
  [["*"], "segment.entered", true],
  [["segment.exited", "customer.*"], "customer.churned", true],
  [["customer.%"], "customer.activated", false],
  [["customer._ctivated"], "customer.activated", false],
  [["*.activated"], "customer.activated", false],
])("event types %j of a webhook, emission %s: delivered %s", async (patterns, type, matches) => {
  const environment = await createEnvironment(sql);
  const { webhookId } = await createWebhook(sql, environment, URL, patterns);
  await emit(sql, environment, [{ type }]);
  expect(await deliveriesOf(sql, webhookId)).toHaveLength(matches ? 1 : 0);
  // Resending uses this function, and must match the same.
  const [row] = await sql`select svc.webhook_wants(${patterns}, null, ${type}, now(), now()) as matches`;
  expect(row!.matches).toBe(matches);
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

test.each([
  ["7d", "7 days", true],
  ["7d", "7 days 1 second", false],
  ["168h", "6 days 23 hours", true],
  ["1w", "8 days", false],
  ["90m", "1 hour", true],
  ["90m", "2 hours", false],
  ["1m", "-3 minutes", true],
])("with a maxEventAge of %s, an event %s old when written: delivered %s", async (maxEventAge, age, delivered) => {
  const environment = await createEnvironment(sql);
  const limited = await createWebhook(sql, environment, URL, ["*"], { maxEventAge });
  const all = await createWebhook(sql, environment, URL);
  await emit(sql, environment, [{ age }]);
  expect(await deliveriesOf(sql, limited.webhookId)).toHaveLength(delivered ? 1 : 0);
  expect(await deliveriesOf(sql, all.webhookId)).toHaveLength(1);
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
