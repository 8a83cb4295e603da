import { describe, expect, it } from "vitest";
import { INSTANT, invalid, refused, TEXT, type Page } from "./support/api.js";
import { useWebhooks, type Delivery } from "./support/webhooks.js";

const { api, create, emit, emitOne, setDelivery } = useWebhooks();
const { get, read, readAll } = api;
const list = (id: string, query = "") => read<Page<Delivery>>(`/webhooks/${id}/deliveries${query}`);
/** The ids of all deliveries that pass the filters, page by page. */
const all = async (id: string, filters: string, limit = 50) =>
  (await readAll<Delivery>(`/webhooks/${id}/deliveries?${filters}`, limit)).items.map((delivery) => delivery.id);

const originOf = (url: string) => `${new URL(url).origin}/…`;
const sequenceOf = (emission: string) => parseInt(emission.slice(4), 16);
/** Under its current and its former name. */
const typed = (type: string) => ({ eventType: type, type });
const EMITTED = { source: "lifecycle", configVersion: null, cause: { type: "timer", id: null } };
const PENDING = { status: "pending", attempts: 0, nextAttemptAt: INSTANT, finishedAt: null };
const attempt = (n: number) => {
  const at = `2026-01-01T00:00:0${n}.000Z`;
  return { attempt: n, at, latencyMs: 10 + n, statusCode: 500, error: null, response: "no" };
};
const FINISHED = { nextAttemptAt: null, finishedAt: "2026-01-01T00:00:05.000Z" };

describe("GET /projects/:project/webhooks/:webhook/deliveries", () => {
  it("lists deliveries newest first with what caused them and their last attempt", async () => {
    const { id } = await create();
    const [first, second] = await emit([
      { customerId: "a", causeId: "evt_1", configVersion: 3 },
      { customerId: "b", type: "segment.entered" },
    ]);
    await setDelivery(id, first!, "delivered", 2);
    const common = { ...EMITTED, emittedAt: "2026-03-02T10:00:00.123Z", createdAt: INSTANT };
    const newest = {
      ...{ id: second, ...typed("segment.entered"), customerId: "b", sequence: sequenceOf(second!) },
      ...{ ...common, ...PENDING, lastAttempt: null },
    };
    const oldest = {
      ...{ id: first, ...typed("customer.activated"), customerId: "a", sequence: sequenceOf(first!) },
      ...{ ...common, configVersion: "v3", cause: { type: "event", id: "evt_1" } },
      ...{ status: "delivered", attempts: 2, lastAttempt: attempt(2), ...FINISHED },
    };
    expect(await readAll(`/webhooks/${id}/deliveries`, 1)).toEqual({ items: [newest, oldest], sizes: [1, 1] });
    // The log of attempts expires.
    await api.sql`delete from svc.delivery_attempts where webhook_id = ${id}`;
    expect((await list(id)).data[1]).toEqual({ ...oldest, lastAttempt: null });
  });

  it("filters by status, type and customer, in any combination, page by page", async () => {
    const { id } = await create();
    const values = { status: ["pending", "delivered", "failed"], type: ["a.b", "c.d"], customer: ["a", "b", "c"] };
    const made = values.status.flatMap((status) =>
      values.type.flatMap((type) => values.customer.map((customer) => ({ status, type, customer }))),
    );
    const ids = await emit(made.map(({ type, customer }) => ({ type, customerId: customer })));
    for (const [n, { status }] of made.entries()) await setDelivery(id, ids[n]!, status, 1);
    for (const status of [undefined, ...values.status])
      for (const type of [undefined, ...values.type, "unknown"])
        for (const customer of [undefined, ...values.customer]) {
          const wanted = Object.entries({ status, type, customer }).filter(([, value]) => value !== undefined);
          const filters = wanted.map(([name, value]) => `${name}=${value}`).join("&");
          const matches = (one: Record<string, string>) => wanted.every(([name, value]) => one[name] === value);
          const expected = ids.filter((_, n) => matches(made[n]!)).reverse();
          expect(await all(id, filters, 5), filters).toEqual(expected);
        }
  });

  it("refuses a pattern of types, as do emissions, instead of answering with an empty list", async () => {
    const { id } = await create();
    const message = "`eventType` must be a whole type, without *.";
    for (const path of [`/webhooks/${id}/deliveries`, "/emissions"])
      expect(await get(`${path}?eventType=customer.*`)).toMatchObject(invalid("eventType", message));
    const former = await get(`/webhooks/${id}/deliveries?type=customer.*`);
    expect(former).toMatchObject(invalid("type", "`type` must be a whole type, without *."));
  });

  it("reads at most 2,000 rows per page, and continues", async () => {
    const { id } = await create();
    const first = await emitOne({ type: "rare", customerId: "rare" });
    await emit(Array.from({ length: 2_500 }, () => ({ customerId: "busy" })));
    for (const filters of ["type=rare", "status=pending&type=rare", "customer=rare", "type=rare&customer=rare"])
      expect(await all(id, filters, 200), filters).toEqual([first]);
    expect(await list(id, "?type=rare")).toEqual({ data: [], nextCursor: TEXT });
    expect(await all(id, "customer=busy&type=rare")).toEqual([]);
    await setDelivery(id, first, "failed", 1);
    expect(await list(id, "?status=failed")).toMatchObject({ data: [{ id: first }], nextCursor: null });
  });
});

describe("GET /projects/:project/webhooks/:webhook/deliveries/:delivery", () => {
  it("shows a delivery with the body that is sent and its attempts, the newest first", async () => {
    const { id } = await create();
    // More digits than a double has.
    const metadata = '{"amount": 12345678901234567890.123456789}';
    const emission = await emitOne({ customerId: "globex", causeId: "evt_1", configVersion: 2, metadata });
    await setDelivery(id, emission, "failed", 3);
    const path = `/webhooks/${id}/deliveries/${emission}`;
    const origin = { ...EMITTED, configVersion: "v2", cause: { type: "event", id: "evt_1" } };
    const sent = { metadata: JSON.parse(metadata) as unknown, sequence: sequenceOf(emission) };
    const data = { customerId: "globex", environment: "test", ...origin, ...sent };
    expect(await read(path)).toEqual({
      ...(await list(id)).data[0],
      body: { id: emission, type: "customer.activated", timestamp: "2026-03-02T10:00:00.123Z", data },
      ruleExecution: null,
      attemptLog: [attempt(3), attempt(2), attempt(1)],
    });
    expect(await api.text(path)).toContain("12345678901234567890.123456789");
  });

  it("shows a hundred attempts at most", async () => {
    const { id } = await create();
    const emission = await emitOne();
    await setDelivery(id, emission, "failed", 101);
    const attemptLog = Array.from({ length: 100 }, (_, n) => ({ attempt: 101 - n }));
    expect(await read(`/webhooks/${id}/deliveries/${emission}`)).toMatchObject({ attemptLog });
  });

  it("answers DELIVERY_NOT_FOUND for what was not delivered there, and for invalid ids", async () => {
    const { id } = await create({ eventTypes: ["segment.*"] });
    const elsewhere = await emitOne();
    for (const delivery of [elsewhere, "emi_0000000000000000", "emi_ffffffffffffffff", "evt_0000000000000001", "1"]) {
      const message = `There is no delivery "${delivery}" to this webhook.`;
      const expected = refused(404, "DELIVERY_NOT_FOUND", { message });
      expect(await get(`/webhooks/${id}/deliveries/${delivery}`)).toMatchObject(expected);
    }
  });
});

describe("GET /projects/:project/emissions/:emission", () => {
  it("shows an emission and its progress at each webhook", async () => {
    const made = [await create(), await create({ url: "https://example.org/second" })];
    await create({ eventTypes: ["segment.*"] });
    const [done, waiting] = made.sort((a, b) => (a.id < b.id ? -1 : 1));
    const id = await emitOne({ customerId: "globex", causeId: "evt_1", configVersion: 1 });
    await setDelivery(done!.id, id, "delivered", 2);
    const origin = { ...EMITTED, configVersion: "v1", cause: { type: "event", id: "evt_1" } };
    const times = { timestamp: "2026-03-02T10:00:00.123Z", createdAt: INSTANT, sequence: sequenceOf(id) };
    expect(await read(`/emissions/${id}`)).toEqual({
      ...{ id, ...typed("customer.activated"), customerId: "globex", ...origin, metadata: {}, ...times },
      ruleExecution: null,
      deliveries: [
        { webhookId: done!.id, url: originOf(done!.url), status: "delivered", attempts: 2, ...FINISHED },
        { webhookId: waiting!.id, url: originOf(waiting!.url), ...PENDING },
      ],
    });
  });

  it("answers EMISSION_NOT_FOUND for unknown ids, those of the other environment, and invalid ones", async () => {
    const emission = await emitOne();
    for (const path of [`${emission}?env=live`, "emi_0000000000000000", "emi_F"])
      expect(await get(`/emissions/${path}`)).toMatchObject(refused(404, "EMISSION_NOT_FOUND"));
  });
});
