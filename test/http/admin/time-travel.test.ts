import { beforeAll, expect, it } from "vitest";
import type { StateDocument } from "../../../src/engine/index.js";
import type { Health } from "../../../src/model/snapshot/types.js";
import { useSpec } from "../../spec/support/fixture.js";
import { environmentId, snapshot } from "../../support/service.js";
import { refused } from "./support/api.js";

const DAY = 86_400_000;
const START = Date.UTC(2026, 0, 1);
/** The instant `n` days after the first event, to the millisecond. */
const day = (days: number): string => new Date(START + days * DAY).toISOString();
const JUST_BEFORE = new Date(START + 10 * DAY - 1).toISOString();
const logins = (count: number) => ({ kind: "count", of: { event: "login" }, operator: "gte", value: count }) as const;
const seats = { kind: "aggregate", function: "sum", property: "seats", of: { event: "login" }, within: "90d" } as const;
/** new, active after two logins, quiet 30 days after the last. */
const MODEL = snapshot({
  lifecycle: {
    initial: "new",
    states: [
      { name: "new", transitions: [{ to: "active", when: logins(2) }] },
      { name: "active", transitions: [{ to: "quiet", when: { kind: "inactiveFor", duration: "30d" } }] },
      { name: "quiet", transitions: [] },
    ],
  },
  segments: [{ id: "rich", when: { ...seats, operator: "gte", value: 12 } }],
});
/** No condition reads it, so that time alone changes it once a day. */
const HEALTH: Health = {
  components: [
    {
      id: "recency",
      weight: 1,
      score: { kind: "scale", of: { kind: "daysSince", which: "last", of: { event: "login" } }, from: 90, to: 0 },
    },
    { id: "seats", weight: 2, score: { kind: "scale", of: seats, from: 0, to: 20 } },
  ],
  bands: [{ id: "any", from: 0 }],
};
const login = (at: string) => {
  return { customerId: "ann", event: "login", properties: { seats: 5 }, timestamp: at };
};

const fixture = useSpec();
const get = (what: string) => fixture.admin("GET", `/projects/app/customers/ann${what}`);
const read = <T = StateDocument>(what: string, customer = "ann") => fixture.read<T>(`customers/${customer}${what}`);

beforeAll(async () => {
  await fixture.deploy(MODEL);
  await fixture.batch([login(day(0)), login(day(10)), login(day(12))]);
  await fixture.batch([{ type: "identify", customerId: "long", traits: { plan: "pro" } }]);
  await fixture.evaluate();
  await fixture.deploy(snapshot({ ...MODEL, health: HEALTH }));
  await fixture.deploy(snapshot({ ...MODEL, lifecycle: null }));
});

it("a customer's state at any millisecond follows from the history up to it, under the requested version", async () => {
  const states = [];
  for (const at of [day(0), JUST_BEFORE, day(10), day(41.99), day(42), day(100)]) {
    const { lifecycle, lastEventAt } = await read(`?at=${at}&version=v1`);
    states.push([at, lifecycle, lastEventAt]);
  }
  expect(states).toEqual([
    [day(0), "new", day(0)],
    [JUST_BEFORE, "new", day(0)],
    [day(10), "active", day(10)],
    [day(41.99), "active", day(12)],
    [day(42), "quiet", day(12)],
    [day(100), "quiet", day(12)],
  ]);
  const now = { at: day(42), exactFrom: null, configVersion: "v3", lifecycle: null };
  expect(await read(`?at=${day(42)}`)).toMatchObject(now);
});

it("without an instant, the present state is shown, whichever version is requested", async () => {
  const { at, exactFrom, ...now } = await read<StateDocument & { at: string; exactFrom: null }>("?version=v1");
  expect([Date.parse(at) > Date.now() - 60_000, exactFrom]).toEqual([true, null]);
  expect(now).toEqual(await fixture.customer("ann"));
});

it("a past state is explained as of its instant, without later events", async () => {
  const explained = (at: string) => read<object>(`/explanation?at=${at}&version=v1`);
  const rich = (member: boolean, actual: number) => ({ segment: "rich", member, condition: { actual } });
  const about = { asOf: day(11), at: day(11), configVersion: "v1", activeVersion: "v3", flipsKnown: true, pending: 0 };
  const lifecycle = { state: "active", transitions: [{ to: "quiet", condition: { met: false, flipsAt: day(40) } }] };
  expect(await explained(day(11))).toMatchObject({ ...about, lifecycle, segments: [rich(false, 10)] });
  expect(await explained(day(13))).toMatchObject({ segments: [rich(true, 15)] });
  expect(await explained(day(95))).toMatchObject({ segments: [rich(false, 10)] });
  // Events that change nothing are counted, too.
  expect(await explained(day(101))).toMatchObject({ asOf: day(101), segments: [rich(false, 5)] });
});

it.each([13.3, 30.6, 42.2, 42.9, 80.1])("on day %d, the explained components are those of the score", async (n) => {
  interface Explained {
    health: { overall: number; components: { component: string; score: number }[] };
  }
  const { health } = await read(`?at=${day(n)}&version=v2`);
  const { health: explained } = await read<Explained>(`/explanation?at=${day(n)}&version=v2`);
  const components = Object.fromEntries(explained.components.map(({ component, score }) => [component, score]));
  expect({ overall: explained.overall, components }).toEqual({
    overall: health?.overall,
    components: health?.components,
  });
});

it("the timeline of an instant has the last entries of a replay up to it, and the number of omitted ones", async () => {
  interface Timeline {
    data: { eventType: string; timestamp: string }[];
    omitted: number;
  }
  const timeline = async (query: string) => {
    const { data, omitted } = await read<Timeline>(`/timeline?version=v1&${query}`);
    return [omitted, ...data.map(({ eventType, timestamp }) => `${eventType} ${timestamp}`)];
  };
  const entered = `segment.entered ${day(12)}`;
  const quiet = `customer.quiet ${day(42)}`;
  const [created, active] = [`customer.created ${day(0)}`, `customer.active ${day(10)}`];
  expect(await timeline(`at=${day(50)}`)).toEqual([0, created, active, entered, quiet]);
  expect(await timeline(`at=${day(50)}&limit=2&reverse=true`)).toEqual([2, quiet, entered]);
  expect(await timeline(`at=${day(12)}&limit=1`)).toEqual([2, entered]);
  expect(await get(`/timeline?at=${day(12)}&cursor=x`)).toMatchObject(
    refused(400, "VALIDATION_ERROR", { field: "cursor" }),
  );
});

it.each([
  ["an instant before its history", `?at=${day(-0.001)}`, 404, "CUSTOMER_NOT_FOUND", { field: "at" }],
  ["an instant ahead", "?at=2999-01-01", 400, "VALIDATION_ERROR", { field: "at", message: "`at` is in the future." }],
  ["no instant", "?at=soon", 400, "VALIDATION_ERROR", { field: "at" }],
  ["an unknown version", "?version=v9", 404, "VERSION_NOT_FOUND", {}],
  ["another customer", `x?at=${day(1)}`, 404, "CUSTOMER_NOT_FOUND", {}],
])("%s is refused", async (_, what, status, code, error) => {
  expect(await get(what)).toMatchObject(refused(status, code, error));
});

it("says since when all events are stored, after retention has removed some", async () => {
  const { sql } = fixture.service.db;
  const id = await environmentId(sql, "app", "test");
  await sql`
    insert into svc.retention (environment_id, swept_through, events_removed, last_removed_at)
    values (${id}, 0, 1, '2026-05-01Z')`;
  expect(await read(`?at=${day(50)}`)).toMatchObject({ exactFrom: null });
  await sql`update svc.customers set created_at = '2020-01-01Z' where customer_id = 'ann'`;
  const [row] = await sql<
    [{ at: string }]
  >`select svc.iso(min(accepted_at)) as at from svc.ingest_batches where environment_id = ${id}`;
  expect(await read(`?at=${day(50)}`)).toMatchObject({ exactFrom: row.at });
  await sql`update svc.retention set removed_through = 1e15`;
  expect(await read(`?at=${day(50)}`)).toMatchObject({ exactFrom: "2026-05-01T00:00:00.000Z" });
});

it("a history of many pages is replayed, with its time windows", async () => {
  const { sql } = fixture.service.db;
  await sql`
    insert into svc.events
    select ${await environmentId(sql, "app", "test")}, 1000000 + n, 'long', 'login', '{"seats": 1}',
      ${day(0)}::timestamptz + n * interval '6 hours', now()
    from generate_series(1, 3000) as n`;
  const explained = await read<{ segments: unknown }>(`/explanation?at=${day(300)}&version=v1`, "long");
  // Four a day in ninety days.
  expect(explained.segments).toMatchObject([{ segment: "rich", member: true, condition: { actual: 360 } }]);
  expect(await read(`?at=${day(300)}&version=v1`, "long")).toMatchObject({ lastEventAt: day(300), segments: ["rich"] });
});
