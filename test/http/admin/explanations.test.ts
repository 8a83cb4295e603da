import { beforeAll, expect, it } from "vitest";
import type { Health } from "../../../src/model/snapshot/types.js";
import { useSpec } from "../../spec/support/fixture.js";
import { environmentId, snapshot } from "../../support/service.js";
import { INSTANT } from "./support/api.js";

const of = { event: "login" };
const logins = { kind: "count", of, within: "30d" } as const;
const seats = { kind: "aggregate", function: "sum", property: "seats", of, within: "90d" } as const;
const HEALTH: Health = {
  components: [
    { id: "usage", weight: 3, score: { kind: "scale", of: logins, from: 0, to: 4 } },
    { id: "seats", weight: 1, score: { kind: "scale", of: seats, from: 0, to: 100_000 } },
  ],
  bands: [
    { id: "good", from: 50 },
    { id: "poor", from: 0 },
  ],
};
const VERSIONS = { configVersion: "v1", activeVersion: "v1" };
const ANN = { customerId: "ann", ...VERSIONS, pending: 0, setAside: null, unavailable: null, flipsKnown: true };

const fixture = useSpec();
let environment: number;
const read = (customer: string, what: "health" | "explanation") => fixture.read(`customers/${customer}/${what}`);
const login = (customerId: string, at = new Date(), seats = 5) => {
  return { customerId, event: "login", properties: { seats }, timestamp: at.toISOString() };
};
const daysAgo = (days: number): Date => new Date(Date.now() - days * 86_400_000);

beforeAll(async () => {
  environment = await environmentId(fixture.service.db.sql, "app", "test");
  await fixture.batch([login("before")]);
  await fixture.evaluate();
  await fixture.deploy(snapshot({ health: HEALTH }));
  await fixture.batch([
    login("ann", daysAgo(2)),
    login("ann", daysAgo(1)),
    { type: "identify", customerId: "ann", traits: { plan: "pro" } },
  ]);
  await fixture.evaluate();
});

it("names the factors behind the present score, what each measures, and when that changes", async () => {
  const { evaluatedThrough, health } = await fixture.customer("ann");
  const cause = { type: "event", id: expect.stringMatching(/^evt_/) as string };
  const component = (component: string, weight: number, score: number, actual: number) => {
    return { component, weight, score, measure: expect.objectContaining({ actual }) as object };
  };
  const components = [component("usage", 3, 50, 2), component("seats", 1, 0.01, 10)];
  expect(await read("ann", "health")).toEqual({
    ...ANN,
    asOf: evaluatedThrough,
    score: { ...health, scoredAt: INSTANT, configVersion: "v1", cause },
    factors: { overall: health!.overall, band: "poor", components },
  });
});

it("explains each part of a customer's state", async () => {
  expect(await read("ann", "explanation")).toEqual({
    ...ANN,
    asOf: INSTANT,
    journeys: [],
    signals: [],
    lifecycle: expect.objectContaining({ state: "active", transitions: [] }) as object,
    segments: [expect.objectContaining({ segment: "paying", member: true }) as object],
    health: expect.objectContaining({ band: "poor" }) as object,
  });
});

it("measures as of now, or as of the evaluation if an operation is pending", async () => {
  const before = Date.now();
  const asOf = async () => ((await read("ann", "explanation")) as { asOf: string }).asOf;
  expect(Date.parse(await asOf())).toBeGreaterThanOrEqual(before);
  const { evaluatedThrough } = await fixture.customer("ann");
  await fixture.batch([{ type: "identify", customerId: "ann", traits: { plan: "pro" } }]);
  expect(await asOf()).toBe(evaluatedThrough);
  await fixture.evaluate();
});

it("explains a state that an earlier version computed under that version, and says so", async () => {
  await fixture.deploy(snapshot());
  const factors = { components: [{ component: "usage" }, { component: "seats" }] };
  const earlier = { configVersion: "v1", activeVersion: "v2", unavailable: null, factors };
  expect(await read("ann", "health")).toMatchObject(earlier);
  await fixture.batch([login("cleo")]);
  await fixture.evaluate();
  const without = (configVersion: string | null, message: string) => {
    return { configVersion, activeVersion: "v2", unavailable: { code: "no_health", message } };
  };
  const none = "The version v2, with which the customer's state was computed, has no health score.";
  expect(await read("cleo", "health")).toMatchObject({ ...without("v2", none), score: null, factors: null });
  const before = without(null, "The customer was evaluated before a configuration was deployed.");
  expect(await read("before", "health")).toMatchObject(before);
  expect(await read("before", "explanation")).toMatchObject({ unavailable: null, lifecycle: null, segments: [] });
});

it("explains a score by the present history", async () => {
  const { sql } = fixture.service.db;
  const scoreOf = async () => ((await read("ann", "health")) as { score: object }).score;
  // A recompute rewrote the score; later entries of the log were written before it.
  await sql`
    insert into svc.health_scores (environment_id, customer_id, overall, components, band, scored_at, cause_type, cause_id, generation)
    values
      (${environment}, 'ann', 50, '{}', 'good', '2026-03-01Z', 'job', 'rec_1', 1),
      (${environment}, 'ann', 50, '{}', 'good', '2026-03-02Z', 'timer', null, 0)`;
  await sql`update svc.customers set generation = 1 where customer_id = 'ann'`;
  expect(await scoreOf()).toMatchObject({ scoredAt: "2026-03-01T00:00:00.000Z", cause: { type: "job", id: "rec_1" } });
  await sql`update svc.customers set generation = 2 where customer_id = 'ann'`;
  expect(await scoreOf()).toMatchObject({ scoredAt: null, cause: null });
  await sql`update svc.customers set generation = 0 where customer_id = 'ann'`;
  await sql`delete from svc.health_scores where scored_at < '2026-03-03Z'`;
});

it("explains a customer that was set aside, with or without a state", async () => {
  const { sql } = fixture.service.db;
  await sql`
    insert into svc.customers (environment_id, customer_id, created_at, set_aside_at, set_aside_error, config_version, state)
    values
      (${environment}, 'never', now(), '2026-03-01Z', 'Error: no', null, null),
      (${environment}, 'broken', now(), '2026-03-01Z', 'Error: no', 1, '{"memory": {"model": "another"}}')`;
  const setAside = { at: "2026-03-01T00:00:00.000Z", error: "Error: no" };
  const failed = "The customer's first evaluation failed, and it was set aside; it has no state.";
  const nothing = { asOf: null, configVersion: null, score: null, factors: null };
  expect(await read("never", "health")).toEqual({
    ...{ ...ANN, ...nothing, customerId: "never", activeVersion: "v2", setAside },
    unavailable: { code: "not_evaluated", message: failed },
  });
  const broken = { setAside, unavailable: { code: "evaluation_failed" }, lifecycle: null, segments: [] };
  expect(await read("broken", "explanation")).toMatchObject(broken);
  // Its row can exist before its first evaluation.
  await sql`insert into svc.customers (environment_id, customer_id, created_at) values (${environment}, 'new', now())`;
  expect(await read("new", "explanation")).toMatchObject({
    setAside: null,
    unavailable: { code: "not_evaluated", message: "The customer has not been evaluated yet." },
  });
});

it("reads history if the state is not sufficient, and reports when that would be too much", async () => {
  const { sql } = fixture.service.db;
  const rich = { ...seats, operator: "gte", value: 10 } as const;
  await fixture.deploy(snapshot({ segments: [...snapshot().segments, { id: "rich", when: rich }] }));
  const start = daysAgo(50).getTime();
  await fixture.batch(Array.from({ length: 100 }, (_, n) => login("dora", new Date(start + n * 60_000), 1)));
  await fixture.evaluate();
  const explained = (flipsKnown: boolean, flipsAt: string | null) => {
    const member = { segment: "rich", member: true, condition: { met: true, actual: 100, flipsAt } };
    return { flipsKnown, segments: [{ segment: "paying" }, member] };
  };
  const flips = new Date(start + 90 * 60_000 + 90 * 86_400_000).toISOString();
  expect(await read("dora", "explanation")).toMatchObject(explained(true, flips));
  // As written by a version without stored searches.
  await sql`update svc.customers set state = (state::jsonb #- '{memory,4}')::json where customer_id = 'dora'`;
  expect(await read("dora", "explanation")).toMatchObject(explained(true, flips));

  await sql`
    insert into svc.events
    select ${environment}, 1000000 + n, 'dora', 'login', '{"seats": 0}', ${new Date(start + 50.5 * 60_000).toISOString()}::timestamptz, now()
    from generate_series(1, 30000) as n`;
  await sql`
    update svc.customers set state = jsonb_set(jsonb_set(state::jsonb, '{memory,3,0,2}', '30100'), '{memory,3,0,6,1}', '30068')::json
    where customer_id = 'dora'`;
  expect(await read("dora", "explanation")).toMatchObject(explained(false, null));
});

it("answers more requests at once than it has places, without deadlock", async () => {
  await Promise.all(Array.from({ length: 20 }, () => read("ann", "health")));
});
