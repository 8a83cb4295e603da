import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Snapshot } from "../../../src/model/snapshot/types.js";
import { useIngest } from "./fixture.js";

const fixture = await useIngest();

const MODEL: Partial<Snapshot> = {
  strictSchema: true,
  events: {
    order: {
      properties: {
        amount: { type: "number" },
        currency: { type: "string", enum: ["EUR", "USD"], optional: true },
        tags: { type: "array", items: { type: "string" }, optional: true },
        due: { type: "date", optional: true },
        gift: { type: "boolean", optional: true },
      },
    },
    login: { properties: {} },
  },
  traits: { plan: { type: "string", enum: ["free", "pro"] }, seats: { type: "number" } },
};

const order = (properties: Record<string, unknown>) => ({ customerId: "c", event: "order", properties });
const identify = (traits: Record<string, unknown>) => ({ type: "identify", customerId: "c", traits });

describe("with a strict schema", () => {
  beforeAll(() => fixture.deploy(MODEL));

  it("accepts null traits and an event without declared properties, and anything in the other environment", async () => {
    const login = { customerId: "c", event: "login" };
    const events = [identify({ plan: "pro", seats: null }), identify({ plan: null }), login];
    expect((await fixture.batch(events)).body).toMatchObject({ accepted: 3 });
    const live = { Authorization: `Bearer ${fixture.keys.live}` };
    expect((await fixture.single({ customerId: "c", event: "logout" }, live)).status).toBe(202);
  });

  it("lists every failing path of every operation, in order; the first one is the error", async () => {
    const reply = await fixture.batch([
      order({ amount: 1 }),
      order({ currency: "eur", tags: [1, "a", {}, 2], zzz: 1, aaa: {}, "a b": 3 }),
      { customerId: "c", event: "logout", properties: { x: 1 } },
      identify({ seats: true, plan: "gold", colour: null }),
    ]);
    const first = { code: "MISSING_REQUIRED_PROPERTY", field: "events[1].properties.amount" };
    expect(reply).toMatchObject({ status: 422, body: { error: first } });
    const { diagnostics } = (reply.body as { error: { diagnostics: { code: string; path: string }[] } }).error;
    expect(diagnostics.map(({ code, path }) => `${code} ${path}`)).toEqual([
      "MISSING_REQUIRED_PROPERTY events[1].properties.amount",
      "INVALID_PROPERTY_ENUM events[1].properties.currency",
      "INVALID_PROPERTY_TYPE events[1].properties.tags[0]",
      "INVALID_STRUCTURE events[1].properties.tags[2]",
      "INVALID_PROPERTY_TYPE events[1].properties.tags[3]",
      'UNKNOWN_PROPERTY events[1].properties["a b"]',
      "UNKNOWN_PROPERTY events[1].properties.aaa",
      "UNKNOWN_PROPERTY events[1].properties.zzz",
      "UNKNOWN_EVENT events[2].event",
      "INVALID_TRAIT_ENUM events[3].traits.plan",
      "INVALID_TRAIT_TYPE events[3].traits.seats",
      "UNKNOWN_TRAIT events[3].traits.colour",
    ]);
  });

  it.each([
    [1000, 100],
    [100, 1000],
  ])("lists at most thousands of diagnostics: of %i operations, %i of each", async (operations, members) => {
    const properties = Object.fromEntries(Array.from({ length: members }, (_, n) => [`p${n}`, n]));
    const reply = await fixture.batch(Array(operations).fill(order({ amount: 1, ...properties })));
    expect(reply).toMatchObject({ status: 422, body: { error: { code: "UNKNOWN_PROPERTY" } } });
    const { length } = (reply.body as { error: { diagnostics: unknown[] } }).error.diagnostics;
    expect(length).toBeGreaterThanOrEqual(5_000);
    expect(length).toBeLessThanOrEqual(15_000);
  });

  it("finds the one operation of 1,000 that violates, after many that only look like it", async () => {
    // February 29th is left to the slow path.
    const events = Array.from({ length: 1000 }, (_, n) =>
      order({ amount: 1, due: n === 987 ? "2027-02-29" : "2028-02-29" }),
    );
    const error = { field: "events[987].properties.due", diagnostics: [{}] };
    expect(await fixture.batch(events)).toMatchObject({ status: 422, body: { error } });
  });
});

describe("a schema that is not strict records", () => {
  let deploys = 0;
  beforeEach(async () => {
    deploys += 1;
    const tags = { type: "array", items: { type: "string" }, optional: true } as const;
    await fixture.deploy({
      strictSchema: false,
      events: { login: { properties: { seats: { type: "number" }, tags } } },
      traits: { plan: { type: "string", enum: ["free", `pro${deploys}`] } },
    });
  });

  /** The rows of the active version, with the id of the last operation. */
  const kept = async () => {
    const rows = await fixture.service.db.sql`
      select event, code, path, operations::integer, svc.event_id(last_seq) as last
      from svc.schema_violations
      where version = (select active_version from svc.environments where name = 'test') order by event, code, path`;
    return rows.map((row) => ({ ...row }));
  };

  const login = (properties: unknown, more: object = {}) => ({ customerId: "c", event: "login", properties, ...more });

  it("each kind of violation once, with the number of operations and the last one", async () => {
    const one = await fixture.single(login({ seats: "many" }));
    const two = await fixture.batch([
      login({ seats: 1 }),
      login({ seats: "few", colour: "red" }),
      login({ seats: 1, tags: ["a", 1, 2] }),
      { customerId: "c", event: "logout" },
      { type: "identify", customerId: "c", traits: { plan: "gold", size: 3 } },
    ]);
    expect([one.status, two.status]).toEqual([202, 202]);
    const ids = (two.body as { eventIds: string[] }).eventIds;
    const traitUpdate = `evt_${(BigInt(`0x${ids[3]!.slice(4)}`) + 1n).toString(16).padStart(16, "0")}`;
    expect(await kept()).toEqual([
      { event: "", code: "INVALID_TRAIT_ENUM", path: "traits.plan", operations: 1, last: traitUpdate },
      { event: "", code: "UNKNOWN_TRAIT", path: "traits.size", operations: 1, last: traitUpdate },
      { event: "login", code: "INVALID_PROPERTY_TYPE", path: "properties.seats", operations: 2, last: ids[1] },
      { event: "login", code: "INVALID_PROPERTY_TYPE", path: "properties.tags[]", operations: 1, last: ids[2] },
      { event: "login", code: "UNKNOWN_PROPERTY", path: "properties.colour", operations: 1, last: ids[1] },
      { event: "logout", code: "UNKNOWN_EVENT", path: "event", operations: 1, last: ids[3] },
    ]);
  });

  it("violations of stored operations only: repetitions and refused requests add nothing", async () => {
    const event = login({ seats: "many" }, { idempotencyKey: `key ${deploys}` });
    await fixture.single(event);
    await fixture.single(event);
    await fixture.batch([event, event]);
    expect((await fixture.batch([login({ seats: "x" }), { ...event, event: "other" }])).status).toBe(409);
    expect((await kept()).map(({ operations }) => operations)).toEqual([1]);
  });

  it("all violations of concurrent calls, without deadlock", async () => {
    const wrong = Array.from({ length: 20 }, (_, n) => login({ [`p${n}`]: 1 }));
    const replies = await Promise.all(
      Array.from({ length: 12 }, (_, n) => fixture.batch(n % 2 === 0 ? wrong : wrong.toReversed())),
    );
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([202]));
    const rows = await kept();
    const unknown = rows.filter(({ code }) => code === "UNKNOWN_PROPERTY");
    expect(unknown.map(({ operations }) => operations)).toEqual(Array(20).fill(12));
  });

  it("up to 1,000 kinds per version, further kinds in one row, and known kinds as before", async () => {
    const unknown = (from: number, count: number) =>
      Array.from({ length: count }, (_, n) => ({ customerId: "c", event: `unknown ${from + n}` }));
    expect((await fixture.batch(unknown(0, 990))).status).toBe(202);
    expect((await fixture.batch([...unknown(980, 40), login({ seats: "many", colour: 1 })])).status).toBe(202);
    const rows = await kept();
    expect(rows.length).toBe(1_001);
    expect(rows.find(({ path }) => path === "*")).toMatchObject({ event: "", code: "OTHER", operations: 21 });
    expect(rows.find(({ event }) => event === "unknown 985")).toMatchObject({ operations: 2 });
  });

  it("at least one violation per event, however many a batch has", async () => {
    const noisy = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`n${n}`, n]));
    const events = Array.from({ length: 500 }, () => login({ seats: 1, ...noisy }));
    expect((await fixture.batch([...events, { customerId: "c", event: "typo" }])).status).toBe(202);
    const typo = (await kept()).find(({ event }) => event === "typo");
    expect(typo).toMatchObject({ code: "UNKNOWN_EVENT", operations: 1 });
  });
});
