import { afterAll, beforeEach, expect, it } from "vitest";
import { startIngest } from "./fixture.js";

// Violations of a schema that is not strict are accepted, and kept in numbers.

const fixture = await startIngest();
afterAll(() => fixture.service.stop());

let version = 0;
beforeEach(async () => {
  version += 1;
  await fixture.deploy({
    strictSchema: false,
    events: {
      login: {
        properties: { seats: { type: "number" }, tags: { type: "array", items: { type: "string" }, optional: true } },
      },
    },
    traits: { plan: { type: "string", enum: ["free", `pro${version}`] } },
  });
});

interface Kept {
  event: string;
  code: string;
  path: string;
  operations: number;
  last: string;
}

/** The rows of the version that is active, with the id of the last operation. */
const kept = async (): Promise<Kept[]> => {
  const rows = await fixture.service.db.sql<Kept[]>`
    select event, code, path, operations::integer, svc.event_id(last_seq) as last
    from svc.schema_violations where version = ${version} order by event, code, path`;
  return rows.map((row) => ({ ...row }));
};

const login = (properties: unknown, more: object = {}) => ({ customerId: "c", event: "login", properties, ...more });

it("each kind once, with the number of operations and the last of them", async () => {
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

it("of operations that are stored: a repetition and a refused request add nothing", async () => {
  const event = login({ seats: "many" }, { idempotencyKey: `key ${version}` });
  await fixture.single(event);
  await fixture.single(event);
  await fixture.batch([event, event]);
  expect((await fixture.batch([login({ seats: "x" }), { ...event, event: "other" }])).status).toBe(409);
  expect((await kept()).map(({ operations }) => operations)).toEqual([1]);
});

it("of calls that come at once none is lost, and none waits for ever", async () => {
  const wrong = Array.from({ length: 20 }, (_, n) => ({
    customerId: "c",
    event: "login",
    properties: { [`p${n}`]: 1 },
  }));
  const replies = await Promise.all(
    Array.from({ length: 12 }, (_, n) => fixture.batch(n % 2 === 0 ? wrong : wrong.toReversed())),
  );
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([202]));
  const rows = await kept();
  expect(rows.filter(({ code }) => code === "UNKNOWN_PROPERTY").map(({ operations }) => operations)).toEqual(
    Array.from({ length: 20 }, () => 12),
  );
});

it("up to 1,000 kinds of a version; what comes beyond counts in one row, and known kinds go on counting", async () => {
  const unknown = (from: number, count: number) =>
    Array.from({ length: count }, (_, n) => ({ customerId: "c", event: `unknown ${from + n}` }));
  expect((await fixture.batch(unknown(0, 990))).status).toBe(202);
  expect((await fixture.batch([...unknown(980, 40), login({ seats: "many", colour: 1 })])).status).toBe(202);
  const rows = await kept();
  expect(rows.length).toBe(1_001);
  expect(rows.find(({ path }) => path === "*")).toMatchObject({ event: "", code: "OTHER", operations: 21 });
  expect(rows.find(({ event }) => event === "unknown 985")).toMatchObject({ operations: 2 });
});

it("one of each event at least, however many violations a batch has", async () => {
  const noisy = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`n${n}`, n]));
  const events = Array.from({ length: 500 }, () => login({ seats: 1, ...noisy }));
  expect((await fixture.batch([...events, { customerId: "c", event: "typo" }])).status).toBe(202);
  expect((await kept()).find(({ event }) => event === "typo")).toMatchObject({ code: "UNKNOWN_EVENT", operations: 1 });
});

it("nothing of a strict schema, which refuses them", async () => {
  await fixture.deploy({ strictSchema: true, events: { login: { properties: { seats: { type: "number" } } } } });
  version += 1;
  expect((await fixture.batch([login({ seats: "many" })])).status).toBe(422);
  await fixture.single(login({ seats: "many" }));
  expect(await kept()).toEqual([]);
});
