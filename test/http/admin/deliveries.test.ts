import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { envelope } from "../../support/service.js";
import { startWebhooks, type Delivery, type WebhookFixture } from "./support/webhooks.js";

let fixture: WebhookFixture;
beforeAll(async () => {
  fixture = await startWebhooks();
});
beforeEach(() => fixture.begin());
afterAll(() => fixture.stop());

const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown;
const get = (path: string) => fixture.request("GET", path);
const noSuchWebhook = (id: string) => ({
  status: 404,
  body: envelope("WEBHOOK_NOT_FOUND", `There is no webhook "${id}" in this environment.`),
});
const noSuchDelivery = (id: string) => ({
  status: 404,
  body: envelope("DELIVERY_NOT_FOUND", `There is no delivery "${id}" to this webhook.`, {
    fix: "Check the id, which is that of the emission; GET /projects/:project/webhooks/:webhook/deliveries lists the deliveries.",
  }),
});

interface List {
  data: Delivery[];
  nextCursor: string | null;
}

/** A page of deliveries. */
async function list(webhookId: string, query = ""): Promise<List> {
  const reply = await get(`/webhooks/${webhookId}/deliveries${query}`);
  expect(reply.status).toBe(200);
  return reply.body as List;
}

/** The ids of all deliveries that filters pass, page by page. */
async function all(webhookId: string, filters: string, limit = 50): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const page = await list(webhookId, `?limit=${limit}${filters}${cursor && `&cursor=${cursor}`}`);
    ids.push(...page.data.map(({ id }) => id));
    cursor = page.nextCursor;
  }
  return ids;
}

describe("GET /projects/:project/webhooks/:webhook/deliveries", () => {
  it("lists deliveries newest first with what caused them and their last attempt", async () => {
    const { id } = await fixture.create();
    const [first, second] = await fixture.emit([
      { customerId: "a", causeId: "evt_1", configVersion: 3 },
      { customerId: "b", type: "segment.entered" },
    ]);
    await fixture.setDelivery(id, first!, { status: "delivered", attempts: 2 });
    const newest = {
      id: second,
      type: "segment.entered",
      customerId: "b",
      source: "lifecycle",
      configVersion: null,
      cause: { type: "timer", id: null },
      emittedAt: "2026-03-02T10:00:00.123Z",
      createdAt: timestamp,
      sequence: parseInt(second!.slice(4), 16),
      status: "pending",
      attempts: 0,
      nextAttemptAt: timestamp,
      finishedAt: null,
      lastAttempt: null,
    };
    const oldest = {
      ...newest,
      id: first,
      type: "customer.activated",
      customerId: "a",
      configVersion: "v3",
      cause: { type: "event", id: "evt_1" },
      sequence: parseInt(first!.slice(4), 16),
      status: "delivered",
      attempts: 2,
      nextAttemptAt: null,
      finishedAt: "2026-01-01T00:00:05.000Z",
      lastAttempt: {
        attempt: 2,
        at: "2026-01-01T00:00:02.000Z",
        latencyMs: 12,
        statusCode: 500,
        error: null,
        response: "no",
      },
    };
    const page = await list(id, "?limit=1");
    expect(page).toEqual({ data: [newest], nextCursor: expect.any(String) as string });
    expect(await list(id, `?limit=1&cursor=${page.nextCursor}`)).toEqual({ data: [oldest], nextCursor: null });
    // The log of attempts is kept for a time.
    await fixture.service.db.sql`delete from svc.delivery_attempts where webhook_id = ${id}`;
    expect((await list(id)).data[1]).toEqual({ ...oldest, lastAttempt: null });
  });

  describe("with filters", () => {
    it("passes the deliveries of a status, a type and a customer, in any combination, page by page", async () => {
      const { id } = await fixture.create();
      const types = ["customer.activated", "segment.entered"];
      const customers = ["a", "b", "c"];
      const statuses = ["pending", "delivered", "failed"];
      const emissions = Array.from({ length: 36 }, (_, n) => ({ type: types[n % 2]!, customerId: customers[n % 3]! }));
      const ids = await fixture.emit(emissions);
      const made = ids.map((delivery, n) => ({ delivery, ...emissions[n]!, status: statuses[Math.floor(n / 6) % 3]! }));
      for (const { delivery, status } of made) await fixture.setDelivery(id, delivery, { status, attempts: 1 });
      for (const status of [undefined, ...statuses]) {
        for (const type of [undefined, ...types, "unknown"]) {
          for (const customer of [undefined, ...customers]) {
            const filters = Object.entries({ status, type, customer })
              .flatMap(([name, value]) => (value === undefined ? [] : [`&${name}=${value}`]))
              .join("");
            const expected = made
              .filter((one) => (status ?? one.status) === one.status)
              .filter((one) => (type ?? one.type) === one.type)
              .filter((one) => (customer ?? one.customerId) === one.customerId)
              .map(({ delivery }) => delivery)
              .reverse();
            expect(await all(id, filters, 5), filters).toEqual(expected);
          }
        }
      }
    });

    it("reads 2,000 rows a page at most, and goes on", async () => {
      const { id } = await fixture.create();
      const [first] = await fixture.emit([{ type: "rare", customerId: "rare" }]);
      await fixture.emit(Array.from({ length: 4_500 }, () => ({ customerId: "busy" })));
      for (const filters of ["&type=rare", "&status=pending&type=rare", "&customer=rare", "&type=rare&customer=rare"]) {
        expect(await all(id, filters, 200), filters).toEqual([first]);
      }
      const page = await list(id, "?type=rare");
      expect(page).toEqual({ data: [], nextCursor: expect.any(String) as string });
      expect(await all(id, "&customer=busy&type=rare")).toEqual([]);
      await fixture.setDelivery(id, first!, { status: "failed", attempts: 1 });
      expect(await list(id, "?status=failed")).toMatchObject({ data: [{ id: first }], nextCursor: null });
    });
  });

  it("answers WEBHOOK_NOT_FOUND for an unknown webhook and for one of the other environment", async () => {
    const { id } = await fixture.create({}, "live");
    for (const webhook of ["whk_unknown", id])
      expect(await get(`/webhooks/${webhook}/deliveries?env=test`)).toMatchObject(noSuchWebhook(webhook));
  });
});

describe("GET /projects/:project/webhooks/:webhook/deliveries/:delivery", () => {
  it("shows a delivery with the body that is sent and its attempts, the newest first", async () => {
    const { id } = await fixture.create();
    // More digits than a double has.
    const metadata = '{"amount": 12345678901234567890.123456789}';
    const [delivery] = await fixture.emit([{ customerId: "globex", causeId: "evt_1", configVersion: 2, metadata }]);
    await fixture.setDelivery(id, delivery!, { status: "failed", attempts: 3 });
    const attempts = [3, 2, 1].map((n) => ({
      attempt: n,
      at: `2026-01-01T00:00:0${n}.000Z`,
      latencyMs: 10 + n,
      statusCode: 500,
      error: null,
      response: "no",
    }));
    const [listed] = (await list(id)).data;
    const reply = await get(`/webhooks/${id}/deliveries/${delivery}`);
    expect(reply).toMatchObject({ status: 200 });
    expect(reply.body).toEqual({
      ...listed,
      body: {
        id: delivery,
        type: "customer.activated",
        timestamp: "2026-03-02T10:00:00.123Z",
        data: {
          customerId: "globex",
          environment: "test",
          source: "lifecycle",
          metadata: JSON.parse(metadata) as unknown,
          configVersion: "v2",
          cause: { type: "event", id: "evt_1" },
          sequence: parseInt(delivery!.slice(4), 16),
        },
      },
      attemptLog: attempts,
    });
    const raw = await fetch(`${fixture.service.url}/projects/${fixture.slug()}/webhooks/${id}/deliveries/${delivery}`, {
      headers: { Authorization: `Bearer ${fixture.owner.token}`, "X-Svc-Organization": fixture.owner.organizationId },
    });
    expect(await raw.text()).toContain("12345678901234567890.123456789");
  });

  it("shows a hundred attempts at most", async () => {
    const { id } = await fixture.create();
    const [delivery] = await fixture.emit([{}]);
    await fixture.setDelivery(id, delivery!, { status: "failed", attempts: 101 });
    const { body } = await get(`/webhooks/${id}/deliveries/${delivery}`);
    const { attemptLog } = body as { attemptLog: { attempt: number }[] };
    expect([attemptLog.length, attemptLog[0]!.attempt, attemptLog[99]!.attempt]).toEqual([100, 101, 2]);
  });

  it("answers DELIVERY_NOT_FOUND for what was not delivered there, and for what is no id", async () => {
    const { id } = await fixture.create({ eventTypes: ["segment.*"] });
    const [elsewhere] = await fixture.emit([{}]);
    for (const delivery of [elsewhere!, "emi_0000000000000000", "emi_ffffffffffffffff", "evt_0000000000000001", "1"])
      expect(await get(`/webhooks/${id}/deliveries/${delivery}`)).toMatchObject(noSuchDelivery(delivery));
    expect(await get(`/webhooks/whk_1/deliveries/${elsewhere}`)).toMatchObject(noSuchWebhook("whk_1"));
  });
});

describe("GET /projects/:project/emissions/:emission", () => {
  it("shows an emission and how far it came at each webhook that it goes to", async () => {
    const made = [await fixture.create(), await fixture.create({ url: "https://example.org/second" })];
    await fixture.create({ eventTypes: ["segment.*"] });
    const [done, waiting] = made.sort((a, b) => (a.id < b.id ? -1 : 1));
    const [emission] = await fixture.emit([{ customerId: "globex", causeId: "evt_1", configVersion: 1 }]);
    await fixture.setDelivery(done!.id, emission!, { status: "delivered", attempts: 2 });
    const reply = await get(`/emissions/${emission}`);
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      id: emission,
      type: "customer.activated",
      customerId: "globex",
      source: "lifecycle",
      metadata: {},
      timestamp: "2026-03-02T10:00:00.123Z",
      createdAt: timestamp,
      configVersion: "v1",
      cause: { type: "event", id: "evt_1" },
      sequence: parseInt(emission!.slice(4), 16),
      deliveries: [
        {
          webhookId: done!.id,
          url: done!.url,
          status: "delivered",
          attempts: 2,
          nextAttemptAt: null,
          finishedAt: "2026-01-01T00:00:05.000Z",
        },
        {
          webhookId: waiting!.id,
          url: waiting!.url,
          status: "pending",
          attempts: 0,
          nextAttemptAt: timestamp,
          finishedAt: null,
        },
      ],
    });
  });

  it("answers EMISSION_NOT_FOUND for what is not there, in the other environment, and for what is no id", async () => {
    const [emission] = await fixture.emit([{}]);
    for (const [id, env] of [
      [emission!, "live"],
      ["emi_0000000000000000", "test"],
      ["emi_F", "test"],
    ] as const) {
      const reply = await get(`/emissions/${id}?env=${env}`);
      expect(reply).toMatchObject({
        status: 404,
        body: envelope("EMISSION_NOT_FOUND", `There is no emission "${id}" in this environment.`, {
          fix: "Check the id and the environment; the timeline of a customer lists what was emitted about it.",
        }),
      });
    }
  });
});

describe("svc_inspect.webhooks", () => {
  it("shows webhooks without their secrets", async () => {
    const { sql } = fixture.service.db;
    const { id, createdAt } = await fixture.create({ maxEventAge: "7d", maxPerSecond: 3 });
    await fixture.request("POST", `/webhooks/${id}/rotate-secret`, {});
    const [row] = await sql`select * from svc_inspect.webhooks where webhook_id = ${id}`;
    const { created_at, previous_secret_expires_at, ...rest } = row!;
    expect(rest).toEqual({
      organization: expect.any(String) as string,
      project: fixture.slug(),
      environment: "test",
      webhook_id: id,
      url: "https://example.com/hook",
      event_types: ["*"],
      max_event_age: "7d",
      max_concurrency: 10,
      max_per_second: 3,
      failing_since: null,
      disabled_at: null,
      disabled_reason: null,
    });
    expect((created_at as Date).toISOString()).toBe(createdAt);
    expect(previous_secret_expires_at).toBeInstanceOf(Date);
    await sql`update svc.webhooks set previous_secret_expires_at = now() where webhook_id = ${id}`;
    const [later] = await sql`select previous_secret_expires_at from svc_inspect.webhooks where webhook_id = ${id}`;
    expect(later!["previous_secret_expires_at"]).toBeNull();
  });
});
