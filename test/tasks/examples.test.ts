import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  activeWithin,
  count,
  happened,
  inactiveFor,
  not,
  snapshotOf,
  trait,
  traitExists,
} from "../engine/support/builders.js";
import { createDatabase, type TestDatabase } from "../support/database.js";
import { TestEnvironment } from "./support/environment.js";

let db: TestDatabase;

beforeAll(async () => {
  db = await createDatabase();
});
afterAll(() => db.drop());

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

describe("order of operations", () => {
  it("an identify at the head of a backfill applies to the history behind it and is evaluated when settled", async () => {
    const environment = await TestEnvironment.create(db.sql, TRIAL);
    const at = "2026-06-01T10:00:00.000Z";
    await environment.ingest([
      { at, traits: { plan: "free" } },
      { at, event: "created", occurred: "2026-01-05T00:00:00.000Z" },
      { at, event: "created", occurred: "2026-02-05T00:00:00.000Z" },
    ]);
    await environment.evaluate({ at: "2026-06-01T10:00:20.000Z" });
    expect(await environment.transitions()).toEqual([
      "-→new 2026-01-05T00:00:00.000Z event",
      "new→trial 2026-01-05T00:00:00.000Z event",
      "trial→activated 2026-02-05T00:00:00.000Z event",
    ]);
    expect(await environment.document()).toMatchObject({
      evaluatedThrough: "2026-02-05T00:00:00.000Z",
      lastEventAt: "2026-02-05T00:00:00.000Z",
      nextDueAt: at,
    });
    await environment.evaluate({ at: "2026-06-01T10:00:30.000Z" });
    expect(await environment.document()).toMatchObject({ evaluatedThrough: at, nextDueAt: null });
  });

  it("an identify between two tracks of a batch applies to the second", async () => {
    const environment = await TestEnvironment.create(db.sql, TRIAL);
    const at = "2026-06-01T10:00:00.000Z";
    const [e1, , e3] = await environment.ingest([
      { at, event: "created", occurred: "2026-01-05T00:00:00.000Z" },
      { at, traits: { plan: "free" } },
      { at, event: "created", occurred: "2026-01-06T00:00:00.000Z" },
    ]);
    await environment.evaluate({ at: "2026-06-01T10:01:00.000Z" });
    const emissions = await environment.emissions();
    const eventId = (seq = 0) => `evt_${seq.toString(16).padStart(16, "0")}`;
    expect(emissions.map(({ type, at, causeId, version }) => [type, at, causeId, version])).toEqual([
      ["customer.created", "2026-01-05T00:00:00.000Z", eventId(e1), 1],
      ["customer.trial", "2026-01-06T00:00:00.000Z", eventId(e3), 1],
      ["customer.activated", "2026-01-06T00:00:00.000Z", eventId(e3), 1],
    ]);
    expect(await environment.document()).toEqual({
      customerId: "c1",
      environment: "test",
      createdAt: at,
      lastEventAt: "2026-01-06T00:00:00.000Z",
      evaluatedThrough: at,
      configVersion: "v1",
      traits: { plan: "free" },
      lifecycle: "activated",
      lifecycleEnteredAt: "2026-01-06T00:00:00.000Z",
      segments: [],
      health: null,
      journeys: [],
      signals: [],
      nextDueAt: null,
    });
  });

  it("of two identifies the earlier is evaluated at its own instant before the later merges", async () => {
    const environment = await TestEnvironment.create(db.sql, TRIAL);
    await environment.ingest([{ at: "2026-03-01T00:00:00.000Z", event: "created" }]);
    await environment.ingest([
      { at: "2026-03-02T10:00:00.000Z", traits: { plan: "free" } },
      { at: "2026-03-02T10:00:00.000Z", traits: { plan: "pro" } },
    ]);
    await environment.evaluate({ at: "2026-03-02T10:01:00.000Z" });
    expect(await environment.document()).toMatchObject({ lifecycle: "new", traits: { plan: "pro" } });
    await environment.ingest([{ at: "2026-03-03T10:00:00.000Z", traits: { plan: "free" } }]);
    await environment.ingest([{ at: "2026-03-03T10:05:00.000Z", traits: { plan: "pro" } }]);
    await environment.evaluate({ at: "2026-03-03T11:00:00.000Z" });
    expect(await environment.emitted()).toEqual([
      "customer.created 2026-03-01T00:00:00.000Z event",
      "customer.trial 2026-03-03T10:00:00.000Z identify",
    ]);
    expect(await environment.document()).toMatchObject({
      evaluatedThrough: "2026-03-03T10:05:00.000Z",
      traits: { plan: "pro" },
      nextDueAt: null,
    });
  });
});

describe("events ahead", () => {
  it("up to five minutes ahead are evaluated at once, at their own instant", async () => {
    const environment = await TestEnvironment.create(db.sql, TRIAL);
    await environment.ingest([{ at: "2026-03-02T10:00:00.000Z", traits: { plan: "free" } }]);
    await environment.ingest([
      { at: "2026-03-02T10:00:00.000Z", event: "created", occurred: "2026-03-02T10:04:00.000Z" },
    ]);
    await environment.ingest([{ at: "2026-03-02T10:01:00.000Z", event: "created" }]);
    await environment.evaluate({ at: "2026-03-02T10:01:00.000Z" });
    expect(await environment.pending()).toEqual([]);
    expect(await environment.document()).toMatchObject({
      lifecycle: "activated",
      evaluatedThrough: "2026-03-02T10:04:00.000Z",
      lastEventAt: "2026-03-02T10:04:00.000Z",
    });
  });

  it("further ahead stay pending until their time comes, and are evaluated then", async () => {
    const environment = await TestEnvironment.create(db.sql, TRIAL);
    const due = "2026-03-02T12:00:00.000Z";
    await environment.ingest([
      { at: "2026-03-02T10:00:00.000Z", traits: { plan: "free" } },
      { at: "2026-03-02T10:00:00.000Z", event: "created" },
      { at: "2026-03-02T10:00:00.000Z", event: "created", occurred: due },
    ]);
    await environment.evaluate({ at: "2026-03-02T10:00:00.000Z" });
    await environment.ingest([{ at: "2026-03-02T10:30:00.000Z", event: "other" }]);
    await environment.evaluate({ at: "2026-03-02T10:30:00.000Z" });
    expect(await environment.pending()).toEqual([{ customer: "c1", notBefore: due }]);
    expect(await environment.document()).toMatchObject({
      lifecycle: "trial",
      evaluatedThrough: "2026-03-02T10:30:00.000Z",
      lastEventAt: "2026-03-02T10:30:00.000Z",
      nextDueAt: due,
    });
    const [{ status }] = await db.sql<[{ status: string }]>`
      select e.status from svc_inspect.events as e
      join svc.environments as v on v.environment_id = ${environment.environmentId}
      join svc.projects as p on p.project_id = v.project_id and p.slug = e.project
      where e.occurred_at = ${due}::text::timestamptz`;
    expect(status).toBe("pending");

    // One look suffices: the row is gone and nothing is due afterwards.
    let chunks = 0;
    await environment.evaluate({ at: due, goesOn: () => ++chunks === 1 });
    expect(await environment.pending()).toEqual([]);
    expect(await environment.document()).toMatchObject({
      lifecycle: "activated",
      lifecycleEnteredAt: due,
      lastEventAt: due,
      nextDueAt: null,
    });
  });

  it("come before an event that occurred after them and was evaluated a little early", async () => {
    const environment = await TestEnvironment.create(db.sql, TRIAL);
    await environment.ingest([
      { at: "2026-03-02T10:00:00.000Z", traits: { plan: "free" } },
      { at: "2026-03-02T10:00:00.000Z", event: "created", occurred: "2026-03-02T12:00:00.000Z" },
    ]);
    await environment.evaluate({ at: "2026-03-02T10:00:00.000Z" });
    await environment.ingest([
      { at: "2026-03-02T11:58:00.000Z", event: "created", occurred: "2026-03-02T12:02:00.000Z" },
    ]);
    await environment.evaluate({ at: "2026-03-02T11:58:00.000Z" });
    expect(await environment.pending()).toEqual([]);
    expect(await environment.document()).toMatchObject({
      lifecycle: "activated",
      lifecycleEnteredAt: "2026-03-02T12:02:00.000Z",
    });
  });

  it("make a new customer due at their acceptance", async () => {
    const environment = await TestEnvironment.create(db.sql, QUIET);
    const at = "2026-03-02T10:00:00.000Z";
    await environment.ingest([{ at, event: "login", occurred: "2026-03-02T12:00:00.000Z" }]);
    // Even where another operation is read first and the timers are held for it.
    await environment.ingest([{ at: "2026-03-02T10:01:00.000Z", traits: { plan: "free" } }]);
    await environment.evaluate({ at: "2026-03-02T10:02:00.000Z", limits: { customers: 10, operations: 1 } });
    expect(await environment.transitions()).toEqual([`-→new ${at} timer`]);
    expect(await environment.document()).toMatchObject({
      evaluatedThrough: "2026-03-02T10:01:00.000Z",
      lastEventAt: null,
      nextDueAt: "2026-03-02T12:00:00.000Z",
    });
  });

  it("in any number at one instant are evaluated, however small the chunks", async () => {
    const environment = await TestEnvironment.create(db.sql, QUIET);
    const at = "2026-03-02T10:00:00.000Z";
    const ahead = { at, event: "login", occurred: "2026-03-02T12:00:00.000Z" };
    await environment.ingest([{ at, event: "login" }, ahead, ahead, ahead, ahead, ahead]);
    const limits = { customers: 1, operations: 1 };
    await environment.evaluate({ at, limits });
    await environment.ingest([{ at: "2026-03-02T11:59:00.000Z", event: "login" }]);
    await environment.evaluate({ at: "2026-03-02T11:59:00.000Z", limits });
    expect(await environment.pending()).toHaveLength(5);
    await environment.evaluate({ at: "2026-03-02T12:00:00.000Z", limits });
    expect(await environment.pending()).toEqual([]);
  });
});

describe("the settle rule", () => {
  it("holds the timers while late events come, and releases them after the settling time", async () => {
    const environment = await TestEnvironment.create(db.sql, QUIET);
    await environment.ingest([
      { at: "2026-06-01T10:00:00.000Z", event: "login", occurred: "2026-01-01T00:00:00.000Z" },
    ]);
    await environment.evaluate({ at: "2026-06-01T10:00:10.000Z" });
    await environment.ingest([
      { at: "2026-06-01T10:00:20.000Z", event: "login", occurred: "2026-01-10T00:00:00.000Z" },
    ]);
    await environment.evaluate({ at: "2026-06-01T10:00:49.999Z" });
    expect(await environment.document()).toMatchObject({
      lifecycle: "activated",
      evaluatedThrough: "2026-01-10T00:00:00.000Z",
      nextDueAt: "2026-01-31T00:00:00.000Z",
    });
    await environment.evaluate({ at: "2026-06-01T10:00:50.000Z" });
    expect(await environment.transitions()).toEqual([
      "-→new 2026-01-01T00:00:00.000Z event",
      "new→activated 2026-01-01T00:00:00.000Z event",
      "activated→at_risk 2026-01-31T00:00:00.000Z timer",
    ]);
    expect(await environment.document()).toMatchObject({
      evaluatedThrough: "2026-01-31T00:00:00.000Z",
      lastEventAt: "2026-01-10T00:00:00.000Z",
      nextDueAt: null,
    });
  });

  it("evaluates what arrives after the release as late", async () => {
    const environment = await TestEnvironment.create(db.sql, QUIET);
    await environment.ingest([
      { at: "2026-06-01T10:00:00.000Z", event: "login", occurred: "2026-01-01T00:00:00.000Z" },
    ]);
    await environment.evaluate({ at: "2026-06-01T10:00:40.000Z" });
    await environment.ingest([
      { at: "2026-06-01T10:01:00.000Z", event: "login", occurred: "2026-01-10T00:00:00.000Z" },
    ]);
    await environment.evaluate({ at: "2026-06-01T10:01:30.000Z" });
    expect(await environment.document()).toMatchObject({
      lifecycle: "at_risk",
      lifecycleEnteredAt: "2026-01-22T00:00:00.000Z",
      evaluatedThrough: "2026-01-22T00:00:00.000Z",
      lastEventAt: "2026-01-10T00:00:00.000Z",
    });
  });

  it("holds them for 24 hours at most, however long others' late events come", async () => {
    const environment = await TestEnvironment.create(db.sql, QUIET);
    await environment.ingest([
      { at: "2026-06-01T10:00:00.000Z", event: "login", occurred: "2026-01-01T00:00:00.000Z" },
    ]);
    await environment.ingest([
      { customer: "other", at: "2026-06-02T09:59:50.000Z", event: "login", occurred: "2026-01-01T00:00:00.000Z" },
    ]);
    await environment.evaluate({ at: "2026-06-02T09:59:59.999Z" });
    expect(await environment.document()).toMatchObject({ lifecycle: "activated" });
    await environment.evaluate({ at: "2026-06-02T10:00:00.000Z" });
    expect(await environment.document()).toMatchObject({ lifecycle: "at_risk" });
    expect(await environment.document("other")).toMatchObject({ lifecycle: "activated" });
  });

  it("concerns nobody whose last event was punctual", async () => {
    const environment = await TestEnvironment.create(db.sql, QUIET);
    await environment.ingest([{ at: "2026-01-01T00:00:00.000Z", event: "login" }]);
    await environment.ingest([
      { customer: "other", at: "2026-06-01T10:00:00.000Z", event: "login", occurred: "2026-01-01T00:00:00.000Z" },
    ]);
    await environment.evaluate({ at: "2026-06-01T10:00:01.000Z" });
    expect(await environment.document()).toMatchObject({ lifecycle: "at_risk" });
    expect(await environment.document("other")).toMatchObject({ lifecycle: "activated" });
  });
});

describe("traits", () => {
  it("keep numbers that no double holds, and nulls inside values; a null removes one", async () => {
    const environment = await TestEnvironment.create(db.sql, TRIAL);
    const at = "2026-03-02T10:00:00.000Z";
    const identify = (traits: string) => `{"type": "identify", "customerId": "c1", "traits": ${traits}}`;
    await environment.ingestText(
      [
        identify('{"plan": "free", "seats": 3, "big": 12345678901234567890, "gone": 1}'),
        identify('{"gone": null, "nested": {"a": null, "b": [null, 1.50]}, "never": null}'),
      ],
      [{ at }, { at }],
    );
    await environment.evaluate({ at });
    await environment.ingestText([identify('{"seats": null, "other": 98765432109876543210}')], [{ at }]);
    await environment.evaluate({ at });
    expect(await environment.documentText()).toContain(
      '{ "big" : 12345678901234567890, "nested" : {"a": null, "b": [null, 1.50]}, ' +
        '"other" : 98765432109876543210, "plan" : "free" }',
    );
  });

  it("removed by null count as absent, and a removal of what is absent makes nothing due", async () => {
    const environment = await TestEnvironment.create(
      db.sql,
      snapshotOf({ segments: { planned: traitExists("plan"), not_free: not(trait("plan", "eq", "free")) } }),
    );
    await environment.ingest([{ at: "2026-03-02T10:00:00.000Z", traits: { plan: "free", seats: 3 } }]);
    await environment.evaluate({ at: "2026-03-02T10:01:00.000Z" });
    await environment.ingest([{ at: "2026-03-02T11:00:00.000Z", traits: { plan: null } }]);
    await environment.evaluate({ at: "2026-03-02T11:01:00.000Z" });
    await environment.ingest([{ at: "2026-03-02T12:00:00.000Z", traits: { plan: null } }]);
    await environment.evaluate({ at: "2026-03-02T12:01:00.000Z" });
    expect(await environment.emitted()).toEqual([
      "segment.entered 2026-03-02T10:00:00.000Z identify",
      "segment.exited 2026-03-02T11:00:00.000Z identify",
      "segment.entered 2026-03-02T11:00:00.000Z identify",
    ]);
    expect(await environment.document()).toMatchObject({
      traits: { seats: 3 },
      segments: ["not_free"],
      evaluatedThrough: "2026-03-02T11:00:00.000Z",
      nextDueAt: null,
    });
    const [membership] = await db.sql`
      select svc.iso(entered_at) as entered, svc.iso(exited_at) as exited from svc.segment_memberships
      where environment_id = ${environment.environmentId} and segment_id = 'planned'`;
    expect(membership).toEqual({ entered: "2026-03-02T10:00:00.000Z", exited: "2026-03-02T11:00:00.000Z" });
  });
});

describe("another version", () => {
  it("leaves a state that it does not know, and is evaluated first at the next operation", async () => {
    const environment = await TestEnvironment.create(db.sql, QUIET);
    await environment.ingest([{ at: "2026-03-01T00:00:00.000Z", event: "login" }]);
    await environment.evaluate({ at: "2026-03-01T00:00:00.000Z" });
    await environment.deploy(
      snapshotOf({
        states: { new: [["engaged", happened("login")]], engaged: [["dormant", inactiveFor("7d")]], dormant: [] },
      }),
    );
    await environment.evaluate({ at: "2026-03-05T00:00:00.000Z" });
    expect(await environment.document()).toMatchObject({ configVersion: "v1", nextDueAt: "2026-03-22T00:00:00.000Z" });
    await environment.ingest([{ at: "2026-03-06T00:00:00.000Z", event: "login" }]);
    await environment.evaluate({ at: "2026-03-06T00:00:00.000Z" });
    expect(await environment.document()).toMatchObject({
      configVersion: "v2",
      lifecycle: "activated",
      lifecycleEnteredAt: "2026-03-01T00:00:00.000Z",
      evaluatedThrough: "2026-03-06T00:00:00.000Z",
      nextDueAt: null,
    });
  });

  it("finds what it counts in the retained events that were evaluated, and in no others", async () => {
    const environment = await TestEnvironment.create(db.sql, QUIET);
    const ahead = "2026-03-09T00:00:00.000Z";
    await environment.ingest([
      { at: "2026-03-01T00:00:00.000Z", event: "created" },
      { at: "2026-03-01T00:00:00.000Z", event: "created", occurred: ahead },
      { at: "2026-03-01T00:00:00.000Z", event: "login" },
      { at: "2026-03-01T00:00:00.000Z", event: "created", customer: "c2" },
      { at: "2026-03-01T00:00:00.000Z", event: "other", customer: "c3" },
    ]);
    await environment.evaluate({ at: "2026-03-01T00:00:00.000Z" });
    await environment.deploy(
      snapshotOf({ segments: { two: count("created", "eq", 2), three: count("created", "eq", 3) } }),
    );
    await environment.ingest(
      ["c1", "c2", "c3"].map((customer) => ({ at: "2026-03-02T00:00:00.000Z", event: "created", customer })),
    );
    await environment.evaluate({ at: "2026-03-02T00:00:00.000Z" });
    expect(await environment.document("c1")).toMatchObject({ segments: ["two"], nextDueAt: ahead });
    expect(await environment.document("c2")).toMatchObject({ segments: ["two"] });
    expect(await environment.document("c3")).toMatchObject({ segments: [] });
    await environment.evaluate({ at: ahead });
    expect(await environment.document("c1")).toMatchObject({ segments: ["three"], lifecycle: "activated" });
  });

  it("is the empty one before the first deploy: operations are processed and traits merge", async () => {
    const environment = await TestEnvironment.create(db.sql);
    await environment.ingest([
      { at: "2026-03-01T00:00:00.000Z", traits: { plan: "free" } },
      { at: "2026-03-01T00:00:00.000Z", event: "login" },
    ]);
    await environment.evaluate({ at: "2026-03-01T00:00:00.000Z" });
    expect(await environment.pending()).toEqual([]);
    expect(await environment.emitted()).toEqual([]);
    expect(await environment.document()).toMatchObject({
      configVersion: null,
      lifecycle: null,
      traits: { plan: "free" },
      lastEventAt: "2026-03-01T00:00:00.000Z",
    });
    await environment.deploy(QUIET);
    await environment.ingest([{ at: "2026-03-02T00:00:00.000Z", event: "other" }]);
    await environment.evaluate({ at: "2026-03-02T00:00:00.000Z" });
    expect(await environment.document()).toMatchObject({ configVersion: "v1", lifecycle: "activated" });
  });
});
