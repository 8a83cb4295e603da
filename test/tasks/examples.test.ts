import { describe, expect, it } from "vitest";
import { examples as order } from "../engine/support/examples/order.js";
import { examples as parts } from "../engine/support/examples/parts.js";
import { activeWithin, count, happened, inactiveFor, snapshotOf, trait } from "../engine/support/builders.js";
import { useDatabase } from "../support/database.js";
import { TestEnvironment } from "./support/environment.js";
import { transitionsOf } from "./support/replayed.js";
import { looksOf, storedLooks } from "./support/story.js";

const db = await useDatabase();

const TRIAL = snapshotOf({
  states: {
    new: [["trial", trait("plan", "eq", "free")]],
    trial: [["activated", count("created", "gte", 2)]],
    activated: [],
  },
});
const QUIET = snapshotOf({
  states: {
    new: [["activated", happened("login")]],
    activated: [["at_risk", inactiveFor("21d")]],
    at_risk: [["activated", activeWithin("3d")]],
  },
});
const AT = "2026-03-02T10:00:00.000Z";
const NOON = "2026-03-02T12:00:00.000Z";
/** A late event. */
const LATE = { event: "login", occurred: "2026-01-01T00:00:00.000Z" };

it.each([...parts, ...order])("the engine's example: $name", async (example) => {
  expect(await storedLooks(db.sql, example)).toEqual(looksOf(example));
});

describe("future events", () => {
  it("stay pending until their time comes, and are evaluated then", async () => {
    const environment = await TestEnvironment.create(db.sql, TRIAL);
    await environment.ingest([
      { at: AT, traits: { plan: "free" } },
      { at: AT, event: "created" },
      { at: AT, event: "created", occurred: NOON },
    ]);
    await environment.evaluate({ at: AT });
    expect(await environment.pending()).toEqual([{ customer: "c1", notBefore: NOON }]);
    const [{ status }] = await db.sql<[{ status: string }]>`
      select status from svc_inspect.events where project = ${environment.place.project} and occurred_at = ${NOON}::text::timestamptz`;
    expect(status).toBe("pending");

    // One chunk suffices: the row is gone and nothing is due afterwards.
    let chunks = 0;
    await environment.evaluate({ at: NOON, shouldContinue: () => ++chunks === 1 });
    expect(await environment.pending()).toEqual([]);
    expect(await environment.document()).toMatchObject({ lifecycle: "activated", lastEventAt: NOON, nextDueAt: null });
  });

  it("make a new customer due at their acceptance", async () => {
    const environment = await TestEnvironment.create(db.sql, QUIET);
    await environment.ingest([{ at: AT, event: "login", occurred: NOON }]);
    // Even if another operation is read first and timers are held for it.
    await environment.ingest([{ at: "2026-03-02T10:01:00.000Z", traits: { plan: "free" } }]);
    await environment.evaluate({ at: "2026-03-02T10:02:00.000Z", limits: { customers: 10, operations: 1 } });
    expect(await transitionsOf(environment, "c1")).toEqual([`-→new ${AT} timer `]);
    expect(await environment.document()).toMatchObject({
      evaluatedThrough: "2026-03-02T10:01:00.000Z",
      lastEventAt: null,
      nextDueAt: NOON,
    });
  });

  it("in any number at one instant are evaluated, however small the chunks", async () => {
    const environment = await TestEnvironment.create(db.sql, QUIET);
    const ahead = { at: AT, event: "login", occurred: NOON };
    await environment.ingest([{ at: AT, event: "login" }, ahead, ahead, ahead, ahead, ahead]);
    const limits = { customers: 1, operations: 1 };
    await environment.evaluate({ at: AT, limits });
    await environment.ingest([{ at: "2026-03-02T11:59:00.000Z", event: "login" }]);
    await environment.evaluate({ at: "2026-03-02T11:59:00.000Z", limits });
    expect(await environment.pending()).toHaveLength(5);
    await environment.evaluate({ at: NOON, limits });
    expect(await environment.pending()).toEqual([]);
  });
});

it("the settle rule holds timers for at most 24 hours, however long late events of others arrive", async () => {
  const environment = await TestEnvironment.create(db.sql, QUIET);
  await environment.ingest([{ at: "2026-06-01T10:00:00.000Z", ...LATE }]);
  await environment.ingest([{ customer: "other", at: "2026-06-02T09:59:50.000Z", ...LATE }]);
  await environment.evaluate({ at: "2026-06-02T09:59:59.999Z" });
  expect(await environment.document()).toMatchObject({ lifecycle: "activated" });
  await environment.evaluate({ at: "2026-06-02T10:00:00.000Z" });
  expect(await environment.document()).toMatchObject({ lifecycle: "at_risk" });
  expect(await environment.document("other")).toMatchObject({ lifecycle: "activated" });
});

it("traits keep numbers beyond double precision, and nulls inside values; a null removes one", async () => {
  const environment = await TestEnvironment.create(db.sql, TRIAL);
  const identify = (traits: string) => `{"type": "identify", "customerId": "c1", "traits": ${traits}}`;
  await environment.ingestText(
    [
      identify('{"plan": "free", "seats": 3, "big": 12345678901234567890, "gone": 1}'),
      identify('{"gone": null, "nested": {"a": null, "b": [null, 1.50]}, "never": null}'),
    ],
    [{ at: AT }, { at: AT }],
  );
  await environment.evaluate({ at: AT });
  await environment.ingestText([identify('{"seats": null, "other": 98765432109876543210}')], [{ at: AT }]);
  await environment.evaluate({ at: AT });
  expect(await environment.documentText()).toContain(
    '{ "big" : 12345678901234567890, "nested" : {"a": null, "b": [null, 1.50]}, ' +
      '"other" : 98765432109876543210, "plan" : "free" }',
  );
});

it("a membership records when it began and ended", async () => {
  const environment = await TestEnvironment.create(db.sql, snapshotOf({ segments: { active: activeWithin("1d") } }));
  await environment.ingest([{ at: AT, event: "login" }]);
  await environment.evaluate({ at: "2026-03-09T10:00:00.000Z" });
  const rows = await db.sql`
    select svc.iso(entered_at) as entered, svc.iso(exited_at) as exited from svc.segment_memberships
    where environment_id = ${environment.environmentId}`;
  expect(rows).toEqual([{ entered: AT, exited: "2026-03-03T10:00:00.000Z" }]);
});

const DAY = "2026-03-01T00:00:00.000Z";
const NEXT = "2026-03-02T00:00:00.000Z";

it("a new version counts exactly the retained events that were evaluated", async () => {
  const environment = await TestEnvironment.create(db.sql, QUIET);
  const ahead = "2026-03-09T00:00:00.000Z";
  await environment.ingest([
    { at: DAY, event: "created" },
    { at: DAY, event: "created", occurred: ahead },
    { at: DAY, event: "login" },
    { at: DAY, event: "created", customer: "c2" },
    { at: DAY, event: "other", customer: "c3" },
  ]);
  await environment.evaluate({ at: DAY });
  await environment.deploy(
    snapshotOf({ segments: { two: count("created", "eq", 2), three: count("created", "eq", 3) } }),
  );
  await environment.evaluate({ at: NEXT });
  expect(await environment.document("c1"), "until its next operation").toMatchObject({ configVersion: "v1" });
  await environment.ingest(["c1", "c2", "c3"].map((customer) => ({ at: NEXT, event: "created", customer })));
  await environment.evaluate({ at: NEXT });
  expect(await environment.document("c1")).toMatchObject({
    configVersion: "v2",
    segments: ["two"],
    nextDueAt: ahead,
  });
  expect(await environment.document("c2")).toMatchObject({ segments: ["two"] });
  expect(await environment.document("c3")).toMatchObject({ segments: [] });
  await environment.evaluate({ at: ahead });
  expect(await environment.document("c1")).toMatchObject({ segments: ["three"], lifecycle: "activated" });
});
