import { describe, expect, it } from "vitest";
import { call } from "../../../src/db/api/call.js";
import type { Reply } from "../../support/service.js";
import { claim as claimDue } from "../../webhooks/support/fixtures.js";
import { invalid, refused, TEXT } from "./support/api.js";
import { useWebhooks } from "./support/webhooks.js";
import { waitingForLock } from "../../support/locks.js";

const { api, create, patch, emit, emitOne, delivery, setDelivery, untilNotified } = useWebhooks();
const { post, audit, entry } = api;
const resend = (webhook: string, id: string) => post(`/webhooks/${webhook}/deliveries/${id}/resend`);
const resendAll = (webhook: string, body: object) => post(`/webhooks/${webhook}/resend`, body);

async function resent(webhook: string, body: object) {
  const reply = await resendAll(webhook, body);
  expect(reply.status, JSON.stringify(reply.body)).toBe(202);
  return reply.body as { queued: number; nextCursor: string | null };
}
const ALL = (queued: number) => ({ queued, nextCursor: null });

/** The number of deliveries that each call makes due until all are resent. */
async function resentByCall(webhook: string, body: object): Promise<number[]> {
  const { queued, nextCursor: cursor } = await resent(webhook, body);
  return cursor === null ? [queued] : [queued, ...(await resentByCall(webhook, { ...body, cursor }))];
}

/** The attempt after which a delivery's schedule restarts, and whether one is due. */
async function schedule(webhook: string, id: string) {
  const [row] = await api.sql`
    select resent_after as "resentAfter", status = 'pending' and next_attempt_at <= now() as due
    from svc.deliveries where webhook_id = ${webhook} and emission_seq = svc_inspect.emission_seq(${id})`;
  return row;
}

/** A webhook and an emission whose delivery has this state after this many attempts. */
async function attempted(status = "pending", attempts = 0): Promise<{ id: string; emission: string }> {
  const { id } = await create();
  const emission = await emitOne();
  if (attempts > 0) await setDelivery(id, emission, status, attempts);
  return { id, emission };
}

describe("POST …/deliveries/:delivery/resend", () => {
  it.each(["delivered", "failed", "pending"])("makes a %s delivery due now, as the same message", async (status) => {
    const { id, emission } = await attempted(status, 10);
    await api.sql`update svc.deliveries set next_attempt_at = now() + interval '5 hours' where webhook_id = ${id}`;
    let reply: Reply | undefined;
    // The workers are notified, and it is recorded.
    await untilNotified(async () => (reply = await resend(id, emission)));
    const again = { id: emission, status: "pending", attempts: 10, finishedAt: null };
    expect(reply).toMatchObject({ status: 202, body: again });
    expect(await delivery(id, emission)).toEqual(reply!.body);
    expect((await audit("webhook"))[1]).toEqual(entry("webhook.resent", id, { id: emission, queued: 1 }));
    // The schedule restarts, and the log of attempts continues.
    expect(await schedule(id, emission)).toEqual({ resentAfter: 10, due: true });
  });

  it("adds a delivery of what was emitted while the webhook was disabled or had other types", async () => {
    const { id } = await create();
    await patch(id, { disabled: true });
    const missed = await emitOne();
    await patch(id, { disabled: false, eventTypes: ["segment.*"] });
    for (const emission of [missed, await emitOne()]) {
      expect(await delivery(id, emission)).toBeUndefined();
      expect(await resend(id, emission)).toMatchObject({ status: 202, body: { id: emission, attempts: 0 } });
      expect(await schedule(id, emission)).toEqual({ resentAfter: 0, due: true });
    }
  });

  it("does not find unknown emissions, or those from before the webhook was created", async () => {
    const emission = await emitOne();
    const [row] = await api.sql<[{ at: Date }]>`
      select created_at as at from svc.emissions where emission_seq = svc_inspect.emission_seq(${emission})`;
    const { id } = await create();
    const reason = `It was written at ${row.at.toISOString()}, before the webhook was created.`;
    expect(await resend(id, emission)).toMatchObject(refused(404, "DELIVERY_NOT_FOUND", { reason }));
    expect(await delivery(id, emission)).toBeUndefined();
    for (const unknown of ["emi_0000000000000000", "emi_1", "evt_0000000000000001"])
      expect(await resend(id, unknown)).toMatchObject(refused(404, "DELIVERY_NOT_FOUND"));
  });

  it("adds a delivery, as sending a period again does, also if the webhook was created while the database's clock was ahead", async () => {
    const { id } = await create();
    await patch(id, { disabled: true });
    const [one, other] = [await emitOne(), await emitOne()];
    await patch(id, { disabled: false });
    await api.sql`update svc.webhooks set created_at = now() + interval '1 day' where webhook_id = ${id}`;
    expect(await resend(id, one)).toMatchObject({ status: 202, body: { id: one, attempts: 0 } });
    expect(await resent(id, { since: "1h", statuses: ["missing"] })).toEqual(ALL(1));
    expect(await delivery(id, other)).toMatchObject({ status: "pending", attempts: 0 });
  });

  describe("while a worker delivers", () => {
    const claim = async (webhookId: string) =>
      (await claimDue(api.sql, `worker-${webhookId}`, 1000)).filter((one) => one.webhookId === webhookId);
    type Held = Awaited<ReturnType<typeof claim>>[number] | undefined;
    const answered = async (held: Held, statusCode: number) => {
      const outcome = { latencyMs: 5, error: null, response: "", retryAfterSeconds: null, statusCode };
      const attempt = { ...held!, attemptedAt: new Date().toISOString(), ...outcome };
      return (await call(api.sql, "record_attempts", [attempt])).recorded;
    };

    it("is another attempt if the answer is recorded first", async () => {
      const { id, emission } = await attempted();
      const [held] = await claim(id);
      expect(await answered(held, 204)).toBe(1);
      await resend(id, emission);
      // The record is repeated, as if its answer had been lost, and changes nothing.
      expect(await answered(held, 204)).toBe(0);
      expect(await claim(id)).toMatchObject([{ eventId: emission, attempt: 2 }]);
    });

    it("is settled by the attempt in progress if that succeeds afterwards", async () => {
      const { id, emission } = await attempted();
      const [held] = await claim(id);
      await resend(id, emission);
      expect(await answered(held, 204)).toBe(1);
      expect(await delivery(id, emission)).toMatchObject({ status: "delivered", attempts: 1 });
      expect(await claim(id)).toEqual([]);
    });

    it("restarts the schedule if that fails afterwards", async () => {
      const { id, emission } = await attempted("pending", 8);
      const [held] = await claim(id);
      await resend(id, emission);
      expect(await answered(held, 500)).toBe(1);
      expect(await delivery(id, emission)).toMatchObject({ status: "pending", attempts: 9 });
      const [row] = await api.sql`
        select next_attempt_at < now() + interval '1 minute' as soon from svc.deliveries where webhook_id = ${id}`;
      expect(row).toEqual({ soon: true });
    });
  });

  it("waits for the erasure of the customer, and then finds nothing", async () => {
    const { id } = await create();
    const emission = await emitOne({ customerId: "globex" });
    await setDelivery(id, emission, "failed", 1);
    const environment = await api.environmentId();
    let waiting: Promise<unknown> | undefined;
    await api.sql`insert into svc.customers (environment_id, customer_id, created_at) values (${environment}, 'globex', now())`;
    await api.sql.begin(async (tx) => {
      await tx`select svc.delete_customer(${environment}, 'globex')`;
      waiting = Promise.all([resend(id, emission), resent(id, { since: "1h" })]);
      await expect.poll(() => waitingForLock(api.sql, "%svc_api.resend_%"), { timeout: 10_000 }).toBe(2);
    });
    expect(await waiting).toMatchObject([{ status: 404 }, { queued: 0 }]);
    expect(await api.sql`select from svc.deliveries where webhook_id = ${id}`).toHaveLength(0);
  });
});

it("is refused for a disabled webhook", async () => {
  const { id, emission } = await attempted("failed", 1);
  await patch(id, { disabled: true });
  const expected = refused(409, "WEBHOOK_DISABLED", { reason: "Disabled by owner@acme.example." });
  expect(await resend(id, emission)).toMatchObject(expected);
  expect(await resendAll(id, { since: "1h" })).toMatchObject(expected);
  expect(await delivery(id, emission)).toMatchObject({ status: "failed" });
});

describe("POST …/webhooks/:webhook/resend", () => {
  const many = (count: number) => emit(Array.from({ length: count }, () => ({})));
  const failAll = (id: string, attempts: number) => api.sql`
    update svc.deliveries set status = 'failed', attempts = ${attempts}, finished_at = now() where webhook_id = ${id}`;

  /** Writes one emission per day from May 1st, 2026 on. */
  async function emitDaily(count: number): Promise<string[]> {
    const ids: string[] = [];
    for (let day = 1; day <= count; day++) {
      const id = await emitOne();
      const at = `2026-05-0${day}T12:00:00Z`;
      await api.sql`
        with seq as (select svc_inspect.emission_seq(${id}) as n),
          batch as (update svc.emission_batches set created_at = ${at} where evaluation_seq = (select n >> 16 from seq))
        update svc.emissions set created_at = ${at} where emission_seq = (select n from seq)`;
      ids.push(id);
    }
    return ids;
  }

  /** Adds evaluations whose emissions were all erased, one per minute until `minutesAgo`. */
  const emitLost = (id: string, evaluations: number, minutesAgo: number) => {
    const environment = api.sql`(select environment_id from svc.webhooks where webhook_id = ${id})`;
    return api.sql`
      insert into svc.emission_batches (environment_id, evaluation_seq, emissions, created_at)
      select ${environment}, nextval(svc.evaluation_seq(${environment})), 60000, now() - interval '1 minute' * (${minutesAgo} - n)
      from generate_series(1, ${evaluations}::integer) as n`;
  };

  /** Creates a webhook that is older than the emissions. */
  async function createEarly(body?: object): Promise<string> {
    const { id } = await create(body);
    await api.sql`update svc.webhooks set created_at = '2026-04-01Z' where webhook_id = ${id}`;
    return id;
  }

  const statusesOf = (webhook: string, ids: readonly string[]) =>
    Promise.all(ids.map(async (id) => (await delivery(webhook, id))?.status));

  it("makes due what failed in a span, which includes its start and excludes its end", async () => {
    const id = await createEarly();
    const ids = await emitDaily(5);
    for (const one of ids) await setDelivery(id, one, "failed", 10);
    const span = { since: "2026-05-02T12:00:00Z", until: "2026-05-04T12:00:00Z" };
    // The workers are notified, and it is recorded with the number.
    await untilNotified(async () => expect(await resent(id, span)).toEqual(ALL(2)));
    const recorded = { since: "2026-05-02T12:00:00.000Z", until: "2026-05-04T12:00:00.000Z", statuses: ["failed"] };
    expect((await audit("webhook")).slice(1)).toEqual([entry("webhook.resent", id, { ...recorded, queued: 2 })]);
    expect(await statusesOf(id, ids)).toEqual(["failed", "pending", "pending", "failed", "failed"]);
    expect(await schedule(id, ids[1]!)).toEqual({ resentAfter: 10, due: true });
    // Nothing in it is failed any more, so nothing is recorded.
    expect(await resent(id, span)).toEqual(ALL(0));
    expect(await audit("webhook")).toHaveLength(2);
    expect(await resent(id, { since: "2026-05-01" })).toEqual(ALL(3));
  });

  it("makes due the deliveries with the requested statuses", async () => {
    const id = await createEarly();
    const ids = await emitDaily(3);
    const [done, failed, waiting] = ids;
    await setDelivery(id, done!, "delivered", 1);
    await setDelivery(id, failed!, "failed", 10);
    await setDelivery(id, waiting!, "pending", 2);
    const since = "2026-05-01";
    expect(await resent(id, { since, statuses: ["delivered"] })).toEqual(ALL(1));
    expect(await statusesOf(id, ids)).toEqual(["pending", "failed", "pending"]);
    // Pending deliveries are unchanged.
    expect(await schedule(id, waiting!)).toMatchObject({ resentAfter: 0 });
    expect(await resent(id, { since, statuses: ["failed", "delivered"] })).toEqual(ALL(1));
    // If requested, they need not wait for the next attempt, and their schedule restarts.
    await api.sql`update svc.deliveries set next_attempt_at = now() + interval '10 hours' where webhook_id = ${id}`;
    expect(await resent(id, { since, statuses: ["pending"] })).toEqual(ALL(3));
    expect(await schedule(id, waiting!)).toEqual({ resentAfter: 2, due: true });
  });

  it("adds missing deliveries: of its types, recent enough, and emitted since it was created", async () => {
    const id = await createEarly({ eventTypes: ["customer.*"] });
    await patch(id, { disabled: true });
    const [tooEarly, old, ...ids] = await emitDaily(4);
    const unwanted = await emitOne({ type: "segment.entered" });
    await patch(id, { disabled: false, maxEventAge: "30d" });
    await api.sql`
      update svc.emissions set emitted_at = '2026-01-01Z' where emission_seq = svc_inspect.emission_seq(${old!})`;
    await api.sql`update svc.emissions set emitted_at = created_at where emission_seq = any(
      select svc_inspect.emission_seq(e) from unnest(${[tooEarly!, ...ids]}::text[]) as e)`;
    await api.sql`update svc.webhooks set created_at = '2026-05-02Z' where webhook_id = ${id}`;
    const everything = { since: "2026-04-01", statuses: ["missing"] };
    expect(await resent(id, { since: "2026-04-01" })).toEqual(ALL(0));
    expect(await resent(id, everything)).toEqual(ALL(2));
    expect(await statusesOf(id, [tooEarly!, old!, unwanted])).toEqual([undefined, undefined, undefined]);
    expect(await statusesOf(id, ids)).toEqual(["pending", "pending"]);
    expect(await resent(id, everything)).toEqual(ALL(0));
  });

  it("continues with a cursor beyond 10,000 emissions, and resends each once", async () => {
    const { id } = await create();
    await many(6_000);
    await many(4_000);
    const again = { since: "1h", statuses: ["failed", "missing", "delivered"] };
    expect(await resent(id, again)).toEqual(ALL(0));
    await emitOne();
    await failAll(id, 10);
    expect(await resentByCall(id, { since: "1h" })).toEqual([10_000, 1]);
    const [row] = await api.sql`
      select count(*) filter (where status = 'pending' and resent_after = 10) as due, count(*) as made
      from svc.deliveries where webhook_id = ${id}`;
    expect(row).toEqual({ due: "10001", made: "10001" });
  });

  it("continues past the gaps of many erased customers, up to the end fixed by the first page, even if given as a duration", async () => {
    const { id } = await create();
    await emitLost(id, 3, 120);
    for (const minutes of [90, 45]) {
      const emission = await emitOne();
      await setDelivery(id, emission, "failed", 1);
      await api.sql`
        update svc.emission_batches set created_at = now() - ${minutes}::integer * interval '1 minute'
        where evaluation_seq = svc_inspect.emission_seq(${emission}) >> 16`;
    }
    const first = await resent(id, { since: "3h", until: "1h" });
    expect(first).toEqual({ queued: 0, nextCursor: TEXT });
    // As if half an hour had passed since.
    expect(await resentByCall(id, { since: "150m", until: "30m", cursor: first.nextCursor })).toEqual([0, 0, 1]);
  });

  it("resends each delivery once in concurrent requests, and is recorded if it resends any", async () => {
    const { id } = await create();
    const ids = await many(200);
    await failAll(id, 3);
    const replies = await Promise.all(Array.from({ length: 4 }, () => resent(id, { since: "1h" })));
    expect(replies.reduce((sum, { queued }) => sum + queued, 0)).toBe(ids.length);
    expect((await audit("webhook")).slice(1)).toHaveLength(replies.filter(({ queued }) => queued > 0).length);
  });

  it.each<[field: string, ...bodies: object[]]>([
    ["since", {}, { since: "soon" }, { since: 7 }, { since: "2026-02-30" }],
    ["until", { since: "1h", until: "later" }, { since: "1h", until: "2h" }],
    ["until", { since: "2026-05-01", until: "2026-05-01" }],
    ["statuses[0]", { since: "1h", statuses: ["waiting"] }],
    ["statuses", ...[[], ["failed", "failed"], "failed"].map((statuses) => ({ since: "1h", statuses }))],
    ["cursor", { since: "1h", cursor: "WyJrZXlzIiwieCJd" }, { since: "1h", cursor: "" }],
  ])("refuses what is wrong with %s", async (field, ...bodies) => {
    const { id } = await create();
    for (const body of bodies) expect(await resendAll(id, body), JSON.stringify(body)).toMatchObject(invalid(field));
  });
});
