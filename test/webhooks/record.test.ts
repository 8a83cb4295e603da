import { beforeEach, describe, expect, test } from "vitest";
import { call } from "../../src/db/api/call.js";
import type { AttemptResult, ClaimedDelivery } from "../../src/db/api/webhooks.js";
import { AttemptRecorder } from "../../src/tasks/deliver/recorder.js";
import { capturedLog } from "../support/captured-log.js";
import { lockWaiter } from "../support/locks.js";
import {
  attemptsOf,
  claim,
  useWebhooks,
  createWebhook,
  deliveriesOf,
  emit,
  makeDue,
  newEndpoint,
} from "./support/fixtures.js";

const sql = await useWebhooks();

function answered(
  claimed: ClaimedDelivery,
  statusCode: number | null,
  more: Partial<AttemptResult> = {},
): AttemptResult {
  return {
    ...claimed,
    attemptedAt: new Date().toISOString(),
    latencyMs: 12,
    statusCode,
    error: statusCode === null ? "connect ECONNREFUSED" : null,
    response: statusCode === null ? null : "answer",
    retryAfterSeconds: null,
    ...more,
  };
}

async function oneClaimed(): Promise<ClaimedDelivery> {
  const { environment } = await newEndpoint(sql);
  await emit(sql, environment, 1);
  return claimAgain();
}

async function claimAgain(): Promise<ClaimedDelivery> {
  await makeDue(sql);
  const [claimed, ...more] = await claim(sql, "worker", 10);
  expect(more).toEqual([]);
  return claimed!;
}

const stateOf = async (webhookId: string) => {
  const [row] = await sql`
    select disabled_at is not null as disabled, failing_since is not null as failing
    from svc.webhooks where webhook_id = ${webhookId}`;
  return row;
};

test("of attempts at several webhooks in one call, 2xx is a delivery, 410 a failure, and anything else is retried", async () => {
  const codes = [200, 201, 204, 299, null, 199, 301, 307, 400, 404, 410, 429, 500, 503];
  const endpoints = await Promise.all(codes.map(() => newEndpoint(sql)));
  for (const { environment } of endpoints) await emit(sql, environment, 1);
  const codeOf = new Map(endpoints.map(({ webhookId }, n) => [webhookId, codes[n]!]));
  const results = (await claim(sql, "worker", 20)).map((one) => answered(one, codeOf.get(one.webhookId)!));
  const gone = endpoints[codes.indexOf(410)]!.webhookId;
  const disabled = [{ webhookId: gone, reason: "The endpoint answered 410 Gone." }];
  expect(await call(sql, "record_attempts", results)).toEqual({ recorded: codes.length, disabled });
  expect(await call(sql, "record_attempts", results)).toEqual({ recorded: 0, disabled: [] });

  for (const [n, { environment, webhookId }] of endpoints.entries()) {
    const status = n < 4 ? "delivered" : webhookId === gone ? "failed" : "pending";
    const [delivery] = await deliveriesOf(sql, webhookId);
    expect(delivery, `HTTP ${codes[n]}`).toMatchObject({ status, attempts: 1 });
    if (status === "pending") expect(delivery!.due_in).toBeLessThan(5.5);
    const { statusCode, error, response } = results.find((result) => result.webhookId === webhookId)!;
    expect(await attemptsOf(sql, webhookId)).toEqual([{ attempt: 1, status_code: statusCode, error, response }]);
    expect(await stateOf(webhookId)).toEqual({ disabled: webhookId === gone, failing: status !== "delivered" });
    const counted = await sql`
      select name, value, count::integer from svc.trend_changes where environment_id = ${environment} and measure = 'delivery'`;
    expect([...counted]).toEqual(status === "pending" ? [] : [{ name: webhookId, value: status, count: 1 }]);
  }
});

test("failing attempts follow the schedule within a tenth, and after the tenth the delivery has failed", async () => {
  let claimed = await oneClaimed();
  const [minute, hour] = [60, 3600];
  const waits = [5, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour];
  for (const wait of waits) {
    const [row] = await sql`
      with recorded as materialized (
        select svc_api.record_attempts(${JSON.stringify([answered(claimed, 500)])}::text::jsonb), now() as at
      )
      select at from recorded`;
    const [due] = await sql`
      select extract(epoch from next_attempt_at - ${row!.at})::float8 as wait
      from svc.deliveries where webhook_id = ${claimed.webhookId}`;
    // The test's copy of the instant is truncated to milliseconds.
    expect(due!.wait).toBeGreaterThanOrEqual(wait * 0.9 - 0.001);
    expect(due!.wait).toBeLessThanOrEqual(wait * 1.1 + 0.001);
    claimed = await claimAgain();
  }
  expect(claimed.attempt).toBe(10);
  await call(sql, "record_attempts", [answered(claimed, 500)]);
  expect(await deliveriesOf(sql, claimed.webhookId)).toMatchObject([{ status: "failed", attempts: 10 }]);
  expect(await attemptsOf(sql, claimed.webhookId)).toHaveLength(10);
});

test("Retry-After is honoured if it is later than the schedule's time, up to a day", async () => {
  const { environment, webhookId } = await newEndpoint(sql);
  await emit(sql, environment, 3);
  const results = (await claim(sql, "worker", 10)).map((one, n) =>
    answered(one, 429, { retryAfterSeconds: [3600, 0, 1e14][n]! }),
  );
  await call(sql, "record_attempts", results);
  const waits = (await deliveriesOf(sql, webhookId)).map(({ due_in }) => due_in);
  expect(waits.map((wait, n) => Math.round(wait / [3600, 5, 86_400][n]!))).toEqual([1, 1, 1]);
});

test("410 fails the delivery and disables the webhook with a reason, once; other pending deliveries wait", async () => {
  const { environment, webhookId } = await newEndpoint(sql);
  const other = await createWebhook(sql, environment, "https://example.com/hooks");
  await emit(sql, environment, 3);
  const [first, second] = (await claim(sql, "worker", 10)).filter((delivery) => delivery.webhookId === webhookId);
  const reason = "The endpoint answered 410 Gone.";
  expect(await call(sql, "record_attempts", [answered(first!, 410)])).toEqual({
    recorded: 1,
    disabled: [{ webhookId, reason }],
  });
  expect(await call(sql, "record_attempts", [answered(second!, 410)])).toEqual({ recorded: 1, disabled: [] });
  const failed = { status: "failed", attempts: 1 };
  expect(await deliveriesOf(sql, webhookId)).toMatchObject([failed, failed, { status: "pending", attempts: 0 }]);
  const disabled = await sql`select webhook_id, disabled_reason from svc.webhooks where disabled_at is not null`;
  expect(disabled).toEqual([{ webhook_id: webhookId, disabled_reason: reason }]);
  const claimed = await claim(sql, "worker", 10, { each: 1 });
  expect(claimed.map((delivery) => delivery.webhookId)).toEqual([other.webhookId]);
  const entries = await sql`
    select actor, actor_user_id, action, project, environment, details from iam.audit_log where target = ${webhookId}`;
  const who = { actor: "svc", actor_user_id: null, project: "app", environment: "test" };
  expect(entries).toEqual([{ ...who, action: "webhook.disabled", details: { reason } }]);
});

test("a webhook is failing from the first attempt that fails until one succeeds", async () => {
  const claimed = await oneClaimed();
  const failingSince = async () => {
    const [row] = await sql<{ failing_since: Date | null }[]>`select failing_since from svc.webhooks`;
    return row!.failing_since?.toISOString() ?? null;
  };
  expect(await failingSince()).toBeNull();
  const attemptedAt = "2026-03-01T10:00:00.000Z";
  await sql`update svc.webhooks set active_since = '2026-02-01Z'`;
  await sql`update svc.deliveries set attempts = 1`;
  await call(sql, "record_attempts", [answered({ ...claimed, attempt: 2 }, 500, { attemptedAt })]);
  expect(await failingSince()).toBe(attemptedAt);
  await sql`update svc.webhooks set failing_since = now()`;
  const since = await failingSince();
  await call(sql, "record_attempts", [answered(await claimAgain(), null)]);
  expect(await failingSince()).toBe(since);
  // However long it was failing.
  await sql`update svc.webhooks set failing_since = now() - interval '6 days'`;
  await call(sql, "record_attempts", [answered(await claimAgain(), 200)]);
  expect(await sql`select failing_since, disabled_at from svc.webhooks`).toEqual([
    { failing_since: null, disabled_at: null },
  ]);
});

test.each([
  ["4 days 23 hours", false],
  ["5 days 1 second", true],
])("a webhook at which every attempt of %s failed is disabled at the next: %s", async (interval, disabled) => {
  const claimed = await oneClaimed();
  await sql`update svc.webhooks set failing_since = now() - ${interval}::interval`;
  await call(sql, "record_attempts", [answered(claimed, 503)]);
  const [row] = await sql`
    select disabled_at is not null as disabled, disabled_reason, svc.iso(failing_since) as since from svc.webhooks`;
  expect(row).toMatchObject({
    disabled,
    disabled_reason: disabled
      ? `No attempt has succeeded since ${String(row!["since"])}; the last one: HTTP 503.`
      : null,
  });
  // Pending deliveries continue when it is enabled.
  expect(await deliveriesOf(sql, claimed.webhookId)).toMatchObject([{ status: "pending", attempts: 1 }]);
});

test("recording an attempt twice, in one call, in sequence or concurrently, changes nothing more", async () => {
  const claimed = await oneClaimed();
  const result = answered(claimed, 500);
  const counts = await Promise.all([1, 2, 3, 4].map(() => call(sql, "record_attempts", [result, result])));
  expect(counts.map(({ recorded }) => recorded).sort()).toEqual([0, 0, 0, 1]);
  const [before] = await sql`select * from svc.deliveries`;
  for (const none of [[{ ...result, statusCode: 200 }], []])
    expect(await call(sql, "record_attempts", none)).toMatchObject({ recorded: 0 });
  expect(await sql`select * from svc.deliveries`).toEqual([before]);
  expect(await attemptsOf(sql, claimed.webhookId)).toMatchObject([{ attempt: 1, status_code: 500 }]);
});

test("an attempt from before the webhook was enabled or its address changed says nothing of the webhook", async () => {
  const claimed = await oneClaimed();
  const before = answered(claimed, 500);
  await sql`update svc.webhooks set active_since = now()`;
  await call(sql, "record_attempts", [before]);
  const [delivery] = await deliveriesOf(sql, claimed.webhookId);
  expect(delivery).toMatchObject({ status: "pending", attempts: 1 });
  expect(delivery!.due_in).toBeGreaterThan(4);
  expect(await stateOf(claimed.webhookId)).toEqual({ disabled: false, failing: false });
});

test.each([
  ["a 410", 0, 410],
  ["the tenth failure", 9, 500],
])("%s from before the address changed ends no delivery: it is due now, with a new schedule", async (_, made, code) => {
  const { environment, webhookId } = await newEndpoint(sql);
  const other = await createWebhook(sql, environment, "https://example.com/hooks");
  await emit(sql, environment, 2);
  await sql`update svc.deliveries set attempts = ${made}`;
  const results = (await claim(sql, "worker", 10)).map((one) => answered(one, code));
  await sql`update svc.webhooks set active_since = now() where webhook_id = ${webhookId}`;
  // Of one of the two, before and after; one webhook keeps its address.
  const again = results.find((result) => result.webhookId === webhookId)!;
  Object.assign(again, { attemptedAt: new Date(Date.now() + 1000).toISOString() });
  await call(sql, "record_attempts", results);
  const deliveries = await deliveriesOf(sql, webhookId);
  expect(deliveries.find((delivery) => delivery.emission_seq === again.emissionSeq)!.status).toBe("failed");
  const moved = deliveries.find((delivery) => delivery.emission_seq !== again.emissionSeq)!;
  expect(moved).toMatchObject({ status: "pending", attempts: made + 1 });
  expect(moved.due_in).toBeLessThanOrEqual(0);
  expect(await deliveriesOf(sql, other.webhookId)).toMatchObject([{ status: "failed" }, { status: "failed" }]);

  await sql`update svc.webhooks set disabled_at = null, disabled_reason = null`;
  const [next] = await claim(sql, "worker", 10);
  expect(next).toMatchObject({ emissionSeq: moved.emission_seq, attempt: made + 2 });
  await call(sql, "record_attempts", [answered(next!, 500)]);
  const [after] = (await deliveriesOf(sql, webhookId)).filter(({ emission_seq }) => emission_seq === next!.emissionSeq);
  expect(after!.status).toBe("pending");
  expect(Math.round(after!.due_in)).toBe(5);
});

test("attempts at a webhook that was created while the database's clock was ahead count once that is set right", async () => {
  const claimed = await oneClaimed();
  await sql`update svc.webhooks set active_since = now() + interval '1 day'`;
  await call(sql, "record_attempts", [answered(claimed, 500)]);
  expect(await stateOf(claimed.webhookId)).toEqual({ disabled: false, failing: true });
  await call(sql, "record_attempts", [answered(await claimAgain(), 410)]);
  expect(await deliveriesOf(sql, claimed.webhookId)).toMatchObject([{ status: "failed", attempts: 2 }]);
  expect(await stateOf(claimed.webhookId)).toEqual({ disabled: true, failing: true });
});

test("a webhook whose failures began while the database's clock was ahead fails since the first one after that is set right", async () => {
  const claimed = await oneClaimed();
  await sql`update svc.webhooks set failing_since = now() + interval '1 year'`;
  const first = answered(claimed, 500);
  await call(sql, "record_attempts", [first]);
  await call(sql, "record_attempts", [answered(await claimAgain(), 500)]);
  const [{ since }] = await sql<[{ since: Date }]>`
    select failing_since as since from svc.webhooks where webhook_id = ${claimed.webhookId}`;
  expect(since.toISOString()).toBe(first.attemptedAt);
});

test("a delivery does not fail by an attempt that is recorded while the address is being changed", async () => {
  const claimed = await oneClaimed();
  const before = answered(claimed, 410);
  const { recording } = await sql.begin(async (tx) => {
    await tx`update svc.webhooks set active_since = now()`;
    const waiting = call(sql, "record_attempts", [before]);
    await lockWaiter(sql, "%record_attempts%");
    return { recording: waiting };
  });
  expect(await recording).toEqual({ recorded: 1, disabled: [] });
  expect(await deliveriesOf(sql, claimed.webhookId)).toMatchObject([{ status: "pending", attempts: 1 }]);
});

test("of the attempts before and after a webhook's address changed, those after decide", async () => {
  const { environment, webhookId } = await newEndpoint(sql);
  await emit(sql, environment, 2);
  const [old, recent] = await claim(sql, "worker", 10);
  await sql`update svc.webhooks set active_since = now() - interval '1 minute'`;
  const attemptedAt = new Date(Date.now() - 120_000).toISOString();
  await call(sql, "record_attempts", [answered(old!, 204, { attemptedAt }), answered(recent!, 503)]);
  expect(await stateOf(webhookId)).toEqual({ disabled: false, failing: true });
});

describe("the recorder of a worker", () => {
  /** A text with a lone surrogate, which the database refuses. */
  const REFUSED = "a\uD83D";

  /** Claimed attempts at one webhook, answered 500. */
  async function attempts(count: number): Promise<[string, AttemptResult[]]> {
    const { environment, webhookId } = await newEndpoint(sql);
    await emit(sql, environment, count);
    return [webhookId, (await claim(sql, "worker", 100)).map((one) => answered(one, 500))];
  }

  test("an attempt whose answer the database refuses is recorded without it, so that the schedule continues", async () => {
    const [webhookId, [refused, ...others]] = await attempts(5);
    const recorder = new AttemptRecorder(sql, capturedLog().log);
    const results = [others[0]!, others[1]!, { ...refused!, response: REFUSED }, others[2]!, others[3]!];
    await Promise.all(results.map((result) => recorder.record(result)));
    const deliveries = await deliveriesOf(sql, webhookId);
    expect(deliveries.map(({ status, attempts: made }) => [status, made])).toEqual(Array(5).fill(["pending", 1]));
    for (const { due_in } of deliveries) expect(due_in).toBeGreaterThan(0);
    const recorded = { attempt: 1, status_code: 500 };
    expect(await attemptsOf(sql, webhookId)).toEqual([
      { ...recorded, error: "the answer could not be recorded", response: null },
      ...Array<unknown>(4).fill({ ...recorded, error: null, response: "answer" }),
    ]);
  });

  test("an attempt that is also refused without its answer is given up and logged once", async () => {
    const [webhookId, [refused, other]] = await attempts(2);
    const { log, lines } = capturedLog();
    const recorder = new AttemptRecorder(sql, log);
    await Promise.all([recorder.record({ ...refused!, attemptedAt: "never" }), recorder.record(other!)]);
    expect((await deliveriesOf(sql, webhookId)).map(({ attempts: made }) => made)).toEqual([0, 1]);
    expect(lines).toMatchObject([
      { msg: "the database rejected the record of an attempt at a delivery, so the delivery will be made again" },
    ]);
  });
});

describe("the sweep", () => {
  beforeEach(() => sql`delete from svc.delivery_attempts`.then(() => undefined));

  /** A webhook with `count` deliveries, each attempted `days` ago. */
  async function delivered(count: number, days: number): Promise<string> {
    const { environment, webhookId } = await newEndpoint(sql);
    await emit(sql, environment, count);
    await sql`update svc.deliveries set status = 'delivered', attempts = 1, finished_at = now() where webhook_id = ${webhookId}`;
    await sql`
      insert into svc.delivery_attempts (environment_id, webhook_id, emission_seq, attempt, attempted_at, latency_ms, status_code)
      select environment_id, webhook_id, emission_seq, 1, now() - ${days} * interval '24 hours', 5, 200
      from svc.deliveries where webhook_id = ${webhookId}`;
    return webhookId;
  }

  async function attempts(webhookId: string): Promise<number> {
    return (await sql`select from svc.delivery_attempts where webhook_id = ${webhookId}`).length;
  }

  test("expired attempts are removed, a bounded number at once, and deliveries stay", async () => {
    const old = await delivered(7, 30.001);
    const young = await delivered(2, 29.999);
    expect(await call(sql, "sweep_webhooks", 30, 5)).toBe(5);
    expect(await attempts(old)).toBe(2);
    expect(await call(sql, "sweep_webhooks", 30, 5)).toBe(2);
    expect(await call(sql, "sweep_webhooks", 30, 5)).toBe(0);
    expect([await attempts(old), await attempts(young)]).toEqual([0, 2]);
    expect(await deliveriesOf(sql, old)).toHaveLength(7);
  });

  test("a webhook deleted an hour ago is removed completely, however large, and others are not touched", async () => {
    const deleted = await delivered(7, 1);
    const other = await delivered(2, 1);
    const deletedFor = (minutes: number) =>
      sql`update svc.webhooks set deleted_at = now() - make_interval(mins => ${minutes}) where webhook_id = ${deleted}`;
    // Emissions and attempts in progress can still need it.
    await deletedFor(59);
    expect(await call(sql, "sweep_webhooks", 30, 5)).toBe(0);
    await deletedFor(61);
    const swept: number[] = [];
    for (let rows = -1; rows !== 0; swept.push(rows)) rows = await call(sql, "sweep_webhooks", 30, 5);
    expect(swept).toEqual([10, 5, 0]);
    expect([await attempts(deleted), (await deliveriesOf(sql, deleted)).length]).toEqual([0, 0]);
    expect([await attempts(other), (await deliveriesOf(sql, other)).length]).toEqual([2, 2]);
    expect(await sql`select webhook_id from svc.webhooks`).toEqual([{ webhook_id: other }]);
  });

  test("what a deleted webhook left behind is removed beside an erasure, and neither waits for the other", async () => {
    const deleted = await delivered(2, 1);
    const [{ environment, first }] = await sql<[{ environment: number; first: string }]>`
      select environment_id as environment, min(emission_seq) as first from svc.deliveries
      where webhook_id = ${deleted} group by 1`;
    await sql`
      update svc.emissions set customer_id = 'globex' where environment_id = ${environment} and emission_seq > ${first}`;
    await sql`insert into svc.customers (environment_id, customer_id, created_at) values (${environment}, 'globex', now())`;
    await sql`update svc.webhooks set deleted_at = now() - interval '2 hours' where webhook_id = ${deleted}`;
    await sql.begin(async (tx) => {
      await tx`select svc.delete_customer(${environment}, 'globex')`;
      expect(await call(sql, "sweep_webhooks", 30, 5)).toBe(2);
      expect(await call(sql, "sweep_webhooks", 30, 5)).toBe(0);
    });
    expect(await call(sql, "sweep_webhooks", 30, 5)).toBe(1);
    expect(await sql`select from svc.webhooks`).toHaveLength(0);
  });
});
