import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { recordAttempts } from "../../../src/db/api/webhooks.js";
import { claim as claimDue } from "../../webhooks/support/fixtures.js";
import { envelope } from "../../support/service.js";
import { startWebhooks, type Delivery, type WebhookFixture } from "./support/webhooks.js";

let fixture: WebhookFixture;
beforeAll(async () => {
  fixture = await startWebhooks();
});
beforeEach(() => fixture.begin());
afterAll(() => fixture.stop());

const sql = () => fixture.service.db.sql;
const resend = (webhook: string, delivery: string, body: unknown = {}) =>
  fixture.request("POST", `/webhooks/${webhook}/deliveries/${delivery}/resend`, body);
const resendAll = (webhook: string, body: object) => fixture.request("POST", `/webhooks/${webhook}/resend`, body);

interface Resent {
  queued: number;
  nextCursor: string | null;
}
async function resent(webhook: string, body: object): Promise<Resent> {
  const reply = await resendAll(webhook, body);
  expect(reply.status, JSON.stringify(reply.body)).toBe(202);
  return reply.body as Resent;
}

/** Where the schedule of a delivery's attempts counts from, and whether one is due. */
async function schedule(webhook: string, id: string): Promise<{ resentAfter: number; due: boolean } | undefined> {
  const [row] = await sql()<{ resentAfter: number; due: boolean }[]>`
    select resent_after as "resentAfter", status = 'pending' and next_attempt_at <= now() as due
    from svc.deliveries where webhook_id = ${webhook} and emission_seq = svc.emission_seq(${id})`;
  return row;
}

/** Resolves once something is due, of which workers are told. */
function told(change: () => Promise<unknown>): Promise<void> {
  return new Promise((resolve, reject) => {
    void sql().listen(
      "svc_deliveries",
      () => resolve(),
      () => void change().catch(reject),
    );
  });
}

const disabled = (id: string) => ({
  status: 409,
  body: envelope("WEBHOOK_DISABLED", `The webhook "${id}" is disabled: nothing is delivered there.`, {
    reason: "Disabled by owner@acme.example.",
    fix: 'Enable it first: PATCH /projects/:project/webhooks/:webhook with {"disabled": false}.',
  }),
});

describe("POST …/deliveries/:delivery/resend", () => {
  it.each(["delivered", "failed"])("makes a %s delivery due again, as the same message", async (status) => {
    const { id } = await fixture.create();
    const [emission] = await fixture.emit([{}]);
    await fixture.setDelivery(id, emission!, { status, attempts: 10 });
    const reply = await resend(id, emission!);
    expect(reply.status).toBe(202);
    expect(reply.body).toMatchObject({ id: emission, status: "pending", attempts: 10, finishedAt: null });
    expect(await fixture.delivery(id, emission!)).toEqual(reply.body);
    // All attempts of the schedule lie ahead again, and the log goes on.
    expect(await schedule(id, emission!)).toEqual({ resentAfter: 10, due: true });
  });

  it("makes one that waits due now", async () => {
    const { id } = await fixture.create();
    const [emission] = await fixture.emit([{}]);
    await fixture.setDelivery(id, emission!, { status: "pending", attempts: 4 });
    await sql()`update svc.deliveries set next_attempt_at = now() + interval '5 hours' where webhook_id = ${id}`;
    expect(await resend(id, emission!)).toMatchObject({ status: 202, body: { status: "pending", attempts: 4 } });
    expect(await schedule(id, emission!)).toEqual({ resentAfter: 4, due: true });
  });

  it("makes a delivery of what was emitted while the webhook was disabled, or wanted others", async () => {
    const { id } = await fixture.create();
    await fixture.request("PATCH", `/webhooks/${id}`, { disabled: true });
    const [missed] = await fixture.emit([{}]);
    await fixture.request("PATCH", `/webhooks/${id}`, { disabled: false, eventTypes: ["segment.*"] });
    const [unwanted] = await fixture.emit([{}]);
    for (const emission of [missed!, unwanted!]) {
      expect(await fixture.delivery(id, emission)).toBeUndefined();
      expect(await resend(id, emission)).toMatchObject({ status: 202, body: { id: emission, attempts: 0 } });
      expect(await schedule(id, emission)).toEqual({ resentAfter: 0, due: true });
    }
  });

  it("does not deliver what was emitted before the webhook was created", async () => {
    const [emission] = await fixture.emit([{}]);
    const [row] = await sql()<[{ at: Date }]>`
      select created_at as at from svc.emissions where emission_seq = svc.emission_seq(${emission!})`;
    const { id } = await fixture.create();
    const reply = await resend(id, emission!);
    expect(reply.status).toBe(404);
    expect(reply.body).toEqual(
      envelope("DELIVERY_NOT_FOUND", `There is no delivery "${emission}" to this webhook.`, {
        reason: `It was written at ${row.at.toISOString()}, before the webhook was created.`,
        fix: "Check the id, which is that of the emission; GET /projects/:project/webhooks/:webhook/deliveries lists the deliveries.",
      }),
    );
    expect(await fixture.delivery(id, emission!)).toBeUndefined();
  });

  it.each(["emi_0000000000000000", "emi_1", "evt_0000000000000001"])("does not find %s", async (emission) => {
    const { id } = await fixture.create();
    const reply = await resend(id, emission);
    expect(reply).toMatchObject({ status: 404, body: { error: { code: "DELIVERY_NOT_FOUND" } } });
  });

  it("leaves a disabled webhook alone", async () => {
    const { id } = await fixture.create();
    const [emission] = await fixture.emit([{}]);
    await fixture.setDelivery(id, emission!, { status: "failed", attempts: 1 });
    await fixture.request("PATCH", `/webhooks/${id}`, { disabled: true });
    expect(await resend(id, emission!)).toMatchObject(disabled(id));
    expect(await fixture.delivery(id, emission!)).toMatchObject({ status: "failed" });
  });

  it("tells the workers, and is written down", async () => {
    const { id } = await fixture.create();
    const [emission] = await fixture.emit([{}]);
    await told(() => resend(id, emission!));
    await expect
      .poll(async () => (await fixture.audit())[1])
      .toMatchObject({ action: "webhook.resent", target: id, details: { id: emission, queued: 1 }, request_id: "req" });
  });

  describe("while a worker delivers", () => {
    const outcome = { latencyMs: 5, error: null, response: "", retryAfterSeconds: null };
    const claim = async (webhookId: string) =>
      (await claimDue(sql(), `worker-${webhookId}`, 1000)).filter((one) => one.webhookId === webhookId);

    it("is one more attempt where the answer is recorded first", async () => {
      const { id } = await fixture.create();
      const [emission] = await fixture.emit([{}]);
      const [held] = await claim(id);
      const attempt = { ...held!, attemptedAt: new Date().toISOString(), statusCode: 204, ...outcome };
      expect(await recordAttempts(sql(), [attempt])).toMatchObject({ recorded: 1 });
      await resend(id, emission!);
      // The call whose answer was lost is repeated, and changes nothing.
      expect(await recordAttempts(sql(), [attempt])).toMatchObject({ recorded: 0 });
      const [again] = await claim(id);
      expect(again).toMatchObject({ eventId: emission, attempt: 2 });
    });

    it("is answered by the attempt under way where that succeeds afterwards", async () => {
      const { id } = await fixture.create();
      const [emission] = await fixture.emit([{}]);
      const [held] = await claim(id);
      await resend(id, emission!);
      const attempt = { ...held!, attemptedAt: new Date().toISOString(), statusCode: 204, ...outcome };
      expect(await recordAttempts(sql(), [attempt])).toMatchObject({ recorded: 1 });
      expect(await fixture.delivery(id, emission!)).toMatchObject({ status: "delivered", attempts: 1 });
      expect(await claim(id)).toEqual([]);
    });

    it("begins the schedule anew where that fails afterwards", async () => {
      const { id } = await fixture.create();
      const [emission] = await fixture.emit([{}]);
      await fixture.setDelivery(id, emission!, { status: "pending", attempts: 8 });
      const [held] = await claim(id);
      await resend(id, emission!);
      const attempt = { ...held!, attemptedAt: new Date().toISOString(), statusCode: 500, ...outcome };
      expect(await recordAttempts(sql(), [attempt])).toMatchObject({ recorded: 1 });
      expect(await fixture.delivery(id, emission!)).toMatchObject({ status: "pending", attempts: 9 });
      const [row] = await sql()<[{ soon: boolean }]>`
        select next_attempt_at < now() + interval '1 minute' as soon from svc.deliveries where webhook_id = ${id}`;
      expect(row.soon).toBe(true);
    });
  });

  it("waits for the erasure of the customer, and finds nothing then", async () => {
    const { id } = await fixture.create();
    const [emission] = await fixture.emit([{ customerId: "globex" }]);
    await fixture.setDelivery(id, emission!, { status: "failed", attempts: 1 });
    const [row] = await sql()<[{ id: number }]>`select environment_id as id from svc.webhooks where webhook_id = ${id}`;
    let waiting: Promise<unknown> | undefined;
    await sql()`insert into svc.customers (environment_id, customer_id, created_at) values (${row.id}, 'globex', now())`;
    await sql().begin(async (tx) => {
      await tx`select svc.delete_customer(${row.id}, 'globex')`;
      waiting = Promise.all([resend(id, emission!), resent(id, { since: "1h" })]);
      await waitFor(2);
    });
    expect(await waiting).toMatchObject([{ status: 404 }, { queued: 0 }]);
    expect(await sql()`select from svc.deliveries where webhook_id = ${id}`).toHaveLength(0);
  });
});

/** Resolves once so many calls of resending wait for a lock. */
async function waitFor(calls: number): Promise<void> {
  for (;;) {
    const waiting = await sql()`
      select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%svc_api.resend_%'`;
    if (waiting.length >= calls) return;
    await sleep(10);
  }
}

describe("POST …/webhooks/:webhook/resend", () => {
  const DAY = "2026-05-0";

  /** Emissions, one written a day from May 1st, 2026 on. */
  async function emitDaily(count: number): Promise<string[]> {
    const ids: string[] = [];
    for (let day = 1; day <= count; day++) {
      const [id] = await fixture.emit([{}]);
      await sql()`
        with seq as (select svc.emission_seq(${id!}) as n),
          batch as (
            update svc.emission_batches set created_at = ${`${DAY}${day}T12:00:00Z`} where evaluation_seq = (select n >> 16 from seq)
          )
        update svc.emissions set created_at = ${`${DAY}${day}T12:00:00Z`} where emission_seq = (select n from seq)`;
      ids.push(id!);
    }
    return ids;
  }

  /** A webhook that was there before. */
  async function createEarly(body?: object): Promise<string> {
    const { id } = await fixture.create(body);
    await sql()`update svc.webhooks set created_at = '2026-04-01Z' where webhook_id = ${id}`;
    return id;
  }

  async function statusesOf(webhook: string, ids: readonly string[]): Promise<(string | undefined)[]> {
    const found: (Delivery | undefined)[] = [];
    for (const id of ids) found.push(await fixture.delivery(webhook, id));
    return found.map((delivery) => delivery?.status);
  }

  it("makes due what failed in a span: its beginning is part of it, its end is not", async () => {
    const id = await createEarly();
    const ids = await emitDaily(5);
    for (const delivery of ids) await fixture.setDelivery(id, delivery, { status: "failed", attempts: 10 });
    const span = { since: "2026-05-02T12:00:00Z", until: "2026-05-04T12:00:00Z" };
    expect(await resent(id, span)).toEqual({ queued: 2, nextCursor: null });
    expect(await statusesOf(id, ids)).toEqual(["failed", "pending", "pending", "failed", "failed"]);
    expect(await schedule(id, ids[1]!)).toEqual({ resentAfter: 10, due: true });
    // Nothing of it has failed any more.
    expect(await resent(id, span)).toEqual({ queued: 0, nextCursor: null });
    expect(await resent(id, { since: "2026-05-01" })).toEqual({ queued: 3, nextCursor: null });
  });

  it("makes due those of the statuses that are named", async () => {
    const id = await createEarly();
    const ids = await emitDaily(3);
    const [delivered, failed, waiting] = ids;
    await fixture.setDelivery(id, delivered!, { status: "delivered", attempts: 1 });
    await fixture.setDelivery(id, failed!, { status: "failed", attempts: 10 });
    await fixture.setDelivery(id, waiting!, { status: "pending", attempts: 2 });
    expect(await resent(id, { since: "2026-05-01", statuses: ["delivered"] })).toMatchObject({ queued: 1 });
    expect(await statusesOf(id, ids)).toEqual(["pending", "failed", "pending"]);
    // What waits goes on as it was.
    expect(await schedule(id, waiting!)).toMatchObject({ resentAfter: 0 });
    const both = { since: "2026-05-01", statuses: ["failed", "delivered"] };
    expect(await resent(id, both)).toMatchObject({ queued: 1 });
    // Unless it is named: then it need not wait for its next attempt, and all of them lie ahead again.
    await sql()`update svc.deliveries set next_attempt_at = now() + interval '10 hours' where webhook_id = ${id}`;
    expect(await resent(id, { since: "2026-05-01", statuses: ["pending"] })).toMatchObject({ queued: 3 });
    expect(await schedule(id, waiting!)).toEqual({ resentAfter: 2, due: true });
  });

  it("delivers what is missing: of its types, young enough, and not emitted before it was created", async () => {
    const id = await createEarly({ eventTypes: ["customer.*"] });
    await fixture.request("PATCH", `/webhooks/${id}`, { disabled: true });
    const [tooEarly, old, ...ids] = await emitDaily(4);
    const [unwanted] = await fixture.emit([{ type: "segment.entered" }]);
    await fixture.request("PATCH", `/webhooks/${id}`, { disabled: false, maxEventAge: "30d" });
    await sql()`
      update svc.emissions set emitted_at = created_at - interval '31 days' where emission_seq = svc.emission_seq(${old!})`;
    await sql()`update svc.emissions set emitted_at = created_at where emission_seq = any(
      select svc.emission_seq(e) from unnest(${[tooEarly!, ...ids]}::text[]) as e)`;
    await sql()`update svc.webhooks set created_at = '2026-05-02Z' where webhook_id = ${id}`;
    const everything = { since: "2026-04-01", statuses: ["missing"] };
    expect(await resent(id, { since: "2026-04-01" })).toEqual({ queued: 0, nextCursor: null });
    expect(await resent(id, everything)).toEqual({ queued: 2, nextCursor: null });
    expect(await statusesOf(id, [tooEarly!, old!, unwanted!, ...ids])).toEqual([
      undefined,
      undefined,
      undefined,
      "pending",
      "pending",
    ]);
    expect(await resent(id, everything)).toEqual({ queued: 0, nextCursor: null });
  });

  it("goes on with a cursor where there are more than 10,000 emissions, and takes each once", async () => {
    const { id } = await fixture.create();
    await fixture.emit(Array.from({ length: 6_000 }, () => ({})));
    await fixture.emit(Array.from({ length: 4_001 }, () => ({})));
    await sql()`update svc.deliveries set status = 'failed', attempts = 10, finished_at = now() where webhook_id = ${id}`;
    const first = await resent(id, { since: "1h" });
    expect(first).toEqual({ queued: 10_000, nextCursor: expect.any(String) as string });
    const last = await resent(id, { since: "1h", cursor: first.nextCursor! });
    expect(last).toEqual({ queued: 1, nextCursor: null });
    const [row] = await sql()`
      select count(*) filter (where status = 'pending' and resent_after = 10) as due, count(*) as made
      from svc.deliveries where webhook_id = ${id}`;
    expect(row).toEqual({ due: "10001", made: "10001" });
  });

  it("ends at 10,000 where there are no more", async () => {
    const { id } = await fixture.create();
    await fixture.emit(Array.from({ length: 10_000 }, () => ({})));
    const again = { since: "1h", statuses: ["failed", "missing", "delivered"] };
    expect(await resent(id, again)).toEqual({ queued: 0, nextCursor: null });
  });

  it("goes on over what many erased customers left", async () => {
    const { id } = await fixture.create();
    const environment = sql()`(select environment_id from svc.webhooks where webhook_id = ${id})`;
    await sql()`
      insert into svc.emission_batches (environment_id, evaluation_seq, emissions, created_at)
      select ${environment}, nextval(svc.evaluation_seq(${environment})), 60000, now() - interval '1 minute' * (60 - n)
      from generate_series(1, 3) as n`;
    const [emission] = await fixture.emit([{}]);
    await fixture.setDelivery(id, emission!, { status: "failed", attempts: 1 });
    let queued = 0;
    let calls = 0;
    for (let cursor: string | null | undefined; cursor !== null; calls++) {
      const page: Resent = await resent(id, { since: "2h", ...(cursor === undefined ? {} : { cursor }) });
      queued += page.queued;
      cursor = page.nextCursor;
    }
    expect([queued, calls]).toEqual([1, 4]);
  });

  it("keeps to the end of its first page, which a duration names anew as time passes", async () => {
    const { id } = await fixture.create();
    const environment = sql()`(select environment_id from svc.webhooks where webhook_id = ${id})`;
    await sql()`
      insert into svc.emission_batches (environment_id, evaluation_seq, emissions, created_at)
      select ${environment}, nextval(svc.evaluation_seq(${environment})), 60000, now() - interval '1 minute' * (120 - n)
      from generate_series(1, 2) as n`;
    for (const minutes of [90, 45]) {
      const [emission] = await fixture.emit([{}]);
      await fixture.setDelivery(id, emission!, { status: "failed", attempts: 1 });
      await sql()`
        update svc.emission_batches set created_at = now() - ${minutes}::integer * interval '1 minute'
        where evaluation_seq = svc.emission_seq(${emission!}) >> 16`;
    }
    let { queued, nextCursor: cursor } = await resent(id, { since: "3h", until: "1h" });
    expect([queued, cursor]).toEqual([0, expect.any(String)]);
    while (cursor !== null) {
      // As if half an hour had passed.
      const page = await resent(id, { since: "150m", until: "30m", cursor });
      queued += page.queued;
      cursor = page.nextCursor;
    }
    expect(queued).toBe(1);
  });

  it("takes each delivery once, however many ask at once", async () => {
    const { id } = await fixture.create();
    const ids = await fixture.emit(Array.from({ length: 200 }, () => ({})));
    await sql()`update svc.deliveries set status = 'failed', attempts = 3, finished_at = now() where webhook_id = ${id}`;
    const replies = await Promise.all(Array.from({ length: 4 }, () => resent(id, { since: "1h" })));
    expect(replies.reduce((sum, { queued }) => sum + queued, 0)).toBe(ids.length);
    expect((await fixture.audit()).filter(({ action }) => action === "webhook.resent")).toHaveLength(
      replies.filter(({ queued }) => queued > 0).length,
    );
  });

  it("tells the workers, and is written down with the number", async () => {
    const id = await createEarly();
    const ids = await emitDaily(2);
    for (const delivery of ids) await fixture.setDelivery(id, delivery, { status: "failed", attempts: 1 });
    await told(() => resent(id, { since: "2026-05-01", until: "2026-05-03" }));
    await expect
      .poll(async () => (await fixture.audit())[1])
      .toMatchObject({
        action: "webhook.resent",
        target: id,
        details: {
          since: "2026-05-01T00:00:00.000Z",
          until: "2026-05-03T00:00:00.000Z",
          statuses: ["failed"],
          queued: 2,
        },
      });
    await resent(id, { since: "2026-05-01" });
    expect(await fixture.audit()).toHaveLength(2);
  });

  it("leaves a disabled webhook alone", async () => {
    const { id } = await fixture.create();
    await fixture.request("PATCH", `/webhooks/${id}`, { disabled: true });
    expect(await resendAll(id, { since: "1h" })).toMatchObject(disabled(id));
  });

  it.each([
    ["no beginning", {}, "since"],
    ["a beginning that is none", { since: "soon" }, "since"],
    ["a beginning of another type", { since: 7 }, "since"],
    ["a date that there is not", { since: "2026-02-30" }, "since"],
    ["an end that is none", { since: "1h", until: "later" }, "until"],
    ["an end before the beginning", { since: "1h", until: "2h" }, "until"],
    ["an end at the beginning", { since: "2026-05-01", until: "2026-05-01" }, "until"],
    ["no statuses", { since: "1h", statuses: [] }, "statuses"],
    ["an unknown status", { since: "1h", statuses: ["waiting"] }, "statuses[0]"],
    ["a status twice", { since: "1h", statuses: ["failed", "failed"] }, "statuses"],
    ["statuses of another type", { since: "1h", statuses: "failed" }, "statuses"],
    ["another list's cursor", { since: "1h", cursor: "WyJrZXlzIiwieCJd" }, "cursor"],
    ["an empty cursor", { since: "1h", cursor: "" }, "cursor"],
    ["what nobody knows", { since: "1h", type: "a" }, "type"],
  ])("refuses %s", async (_what, body, field) => {
    const { id } = await fixture.create();
    const reply = await resendAll(id, body);
    expect(reply).toMatchObject({ status: 400, body: { error: { code: "VALIDATION_ERROR", field } } });
  });
});
