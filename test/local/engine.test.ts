import { beforeEach, describe, expect, test } from "vitest";

import { ApiError } from "../../src/http/errors.js";
import type { TestClock } from "../../src/local/clock.js";
import type { LocalEngine, RequestOperation } from "../../src/local/engine.js";
import { DAY, HOUR, iso, localEngine, localModel, MINUTE, MODEL, SECOND, START } from "./support/model.js";

const signedUp = (customerId: string, more: object = {}): RequestOperation => ({
  customerId,
  event: "signed_up",
  ...more,
});
const project = (customerId: string, more: object = {}): RequestOperation => ({
  customerId,
  event: "project_created",
  properties: { seats: 3 },
  ...more,
});

let engine: LocalEngine;
let clock: TestClock;
beforeEach(() => {
  ({ engine, clock } = localEngine());
});

/** Moves the clock to an instant, and fires due timers. */
function advanceTo(instant: number) {
  clock.moveTo(instant);
  return engine.advance();
}

/** The visible state of all customers of an engine. */
function visibleState(engine: LocalEngine): unknown {
  return engine.population.customerIds.map((id) => [engine.document(id), engine.population.timeline(id)]);
}

/** The refusal of a request, which must have no effect. */
function refusal(engine: LocalEngine, operations: RequestOperation[], form: "single" | "batch" = "batch"): ApiError {
  const before = visibleState(engine);
  let error: unknown;
  try {
    engine.accept(operations, form);
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toBeInstanceOf(ApiError);
  expect(visibleState(engine)).toEqual(before);
  return error as ApiError;
}

describe("accepting", () => {
  test("evaluates at once, and numbers events as the service does", () => {
    const { outcomes } = engine.accept([signedUp("a")], "single");
    expect(outcomes).toEqual([{ eventId: "evt_0000000000000400", duplicate: false }]);
    expect(engine.document("a")).toMatchObject({
      customerId: "a",
      environment: "test",
      createdAt: iso(START),
      evaluatedThrough: iso(START),
      configVersion: null,
      lifecycle: "trial",
      journeys: [{ journeyId: "onboarding", status: "active", currentStep: "create" }],
    });
    expect(engine.population.timeline("a").map(({ type }) => type)).toEqual([
      "customer.created",
      "customer.trial",
      "journey.started",
    ]);

    const batch = engine.accept(
      [{ type: "identify", customerId: "a", traits: { plan: "pro" } }, project("b")],
      "batch",
    );
    expect(batch.outcomes).toEqual([
      { eventId: null, duplicate: false },
      { eventId: "evt_0000000000000801", duplicate: false },
    ]);
    expect(engine.document("a")).toMatchObject({ traits: { plan: "pro" }, segments: ["paying"] });
    expect(engine.population.customerIds).toEqual(["a", "b"]);
  });

  test("an event more than five minutes ahead waits for its time", () => {
    const at = START + 6 * MINUTE;
    engine.accept([signedUp("a", { timestamp: iso(at) })], "single");
    expect(engine.document("a")).toMatchObject({ lifecycle: "new", lastEventAt: null, nextDueAt: iso(at) });
    expect(advanceTo(at - 1)).toEqual([]);
    advanceTo(at);
    expect(engine.document("a")).toMatchObject({ lifecycle: "trial", lifecycleEnteredAt: iso(at) });
  });

  test("keeps all events of a history that conditions need", () => {
    const total = { kind: "aggregate", function: "sum", of: { event: "project_created" }, property: "seats" } as const;
    ({ engine, clock } = localEngine({
      ...MODEL,
      segments: [{ id: "large", when: { ...total, operator: "gte", value: 300, within: "7d" } }],
    }));
    for (let n = 0; n < 100; n++) {
      engine.accept([project("a")], "single");
      advanceTo(clock.now() + HOUR);
    }
    expect(engine.document("a")).toMatchObject({ segments: ["large"] });
    advanceTo(START + 7 * DAY - 1);
    expect(engine.document("a")).toMatchObject({ segments: ["large"] });
    advanceTo(START + 7 * DAY);
    expect(engine.document("a")).toMatchObject({ segments: [] });
    advanceTo(START + 20 * DAY);
    expect(engine.explanation("a")).toMatchObject({ segments: [{ segment: "large", member: false }] });
  });
});

describe("the schema", () => {
  test("refuses a request with a violation if it is strict, and names every failing path", () => {
    const error = refusal(engine, [
      signedUp("a"),
      signedUp("a", { properties: { source: "tv", utm: 1 } }),
      { customerId: "a", event: "project_created" },
      { customerId: "a", event: "unheard_of" },
      { type: "identify", customerId: "a", traits: { plan: 1 } },
    ]);
    expect(error).toMatchObject({ status: 422, code: "INVALID_PROPERTY_ENUM" });
    expect(error.detail).toMatchObject({ field: "events[1].properties.source", value: "tv" });
    expect(error.detail.diagnostics?.map(({ code, path }) => `${code} ${path}`)).toEqual([
      "INVALID_PROPERTY_ENUM events[1].properties.source",
      "UNKNOWN_PROPERTY events[1].properties.utm",
      "MISSING_REQUIRED_PROPERTY events[2].properties.seats",
      "UNKNOWN_EVENT events[3].event",
      "INVALID_TRAIT_TYPE events[4].traits.plan",
    ]);
  });
});

describe("an idempotency key", () => {
  const keyed = (more: object = {}): RequestOperation =>
    project("a", { properties: { seats: 3 }, timestamp: "2025-12-31T23:59:00Z", idempotencyKey: "k", ...more });

  test.each([
    ["unchanged", {}],
    ["with another spelling of the instant", { timestamp: "2026-01-01T00:59:00.000+01:00" }],
    ["with another spelling of a number", { properties: JSON.parse('{"seats":3.0}') as object }],
  ])("repeats the original event: %s", (_, more) => {
    const [first] = engine.accept([keyed()], "single").outcomes;
    const before = visibleState(engine);
    const { outcomes, changes } = engine.accept([keyed(more)], "single");
    expect(outcomes).toEqual([{ eventId: first!.eventId, duplicate: true }]);
    expect(changes).toEqual([{ customerId: "a", effects: [], entries: [] }]);
    expect(visibleState(engine)).toEqual(before);
  });

  test.each([
    ["customer", { customerId: "b" }],
    ["event", { event: "signed_up", properties: {} }],
    ["properties", { properties: { seats: 4 } }],
    ["instant", { timestamp: "2025-12-31T23:59:00.000001Z" }],
    ["absence of an instant", { timestamp: undefined }],
  ])("refuses another %s", (_, more) => {
    engine.accept([keyed()], "single");
    const error = refusal(engine, [keyed(more)], "single");
    expect(error).toMatchObject({
      status: 409,
      code: "IDEMPOTENCY_CONFLICT",
      detail: { field: "idempotencyKey", value: "k" },
    });
  });

  test("can be repeated within a batch, and then names the same event", () => {
    const { outcomes } = engine.accept([keyed(), signedUp("b"), keyed()], "batch");
    expect(outcomes[2]).toEqual({ eventId: outcomes[0]!.eventId, duplicate: true });
    expect(engine.document("a")).toMatchObject({ segments: [] });
  });

  test("with two payloads refuses the whole batch, and stays unused", () => {
    const error = refusal(engine, [keyed(), signedUp("b"), keyed({ customerId: "c" })]);
    expect(error).toMatchObject({ status: 409, detail: { field: "events[2].idempotencyKey" } });
    expect(error.detail.diagnostics).toBeUndefined();
    expect(engine.accept([keyed({ customerId: "c" })], "single").outcomes[0]!.duplicate).toBe(false);
  });

  test("used with other payloads names all such operations of a batch", () => {
    engine.accept([keyed()], "single");
    const { detail } = refusal(engine, [keyed({ customerId: "b" }), signedUp("b"), keyed({ customerId: "c" })]);
    expect(detail).toMatchObject({ field: "events[0].idempotencyKey" });
    expect(detail.diagnostics?.map(({ path }) => path)).toEqual([
      "events[0].idempotencyKey",
      "events[2].idempotencyKey",
    ]);
  });
});

describe("time", () => {
  test("fires the timers of a customer in order, each at its exact instant, however late the engine advances", () => {
    engine.accept([signedUp("a"), project("a"), project("a")], "batch");
    expect(advanceTo(START + 14 * DAY - 1)).toEqual([]);
    expect(engine.document("a")).toMatchObject({ evaluatedThrough: iso(START), nextDueAt: iso(START + 14 * DAY) });
    const cause = { type: "timer", id: null };
    expect(advanceTo(START + DAY * 365)[0]!.entries).toMatchObject([
      { at: iso(START + 14 * DAY), type: "segment.exited", cause },
      { at: iso(START + 21 * DAY), type: "customer.quiet", cause },
      { at: iso(START + 30 * DAY), type: "journey.expired", cause },
    ]);
    expect(engine.document("a")!.journeys).toMatchObject([{ status: "expired", expiredAt: iso(START + 30 * DAY) }]);
    expect(engine.population.nextDueAt).toBeNull();
  });
});

describe("the timers of a customer with late events", () => {
  const long = iso(START - 40 * DAY);

  test("wait until no late event has arrived for the settling time, then fire at their instants", () => {
    engine.accept([signedUp("a", { timestamp: long })], "single");
    expect(engine.document("a")).toMatchObject({ lifecycle: "trial", nextDueAt: iso(START - 19 * DAY) });
    expect(engine.population.nextDueAt).toBe(START + 30 * SECOND);
    expect(advanceTo(START + 30 * SECOND - 1)).toEqual([]);
    advanceTo(START + 30 * SECOND);
    expect(engine.document("a")).toMatchObject({ lifecycle: "quiet", lifecycleEnteredAt: iso(START - 19 * DAY) });
  });

  test("keep later arrivals in order", () => {
    for (const days of [40, 30, 20]) {
      engine.accept([signedUp("a", { timestamp: iso(START - days * DAY) })], "single");
    }
    expect(engine.document("a")).toMatchObject({ lifecycle: "trial", evaluatedThrough: iso(START - 20 * DAY) });
  });

  test("wait for late events of others too, but not more than a day", () => {
    ({ engine, clock } = localEngine(MODEL, { settleMs: HOUR }));
    engine.accept([signedUp("a", { timestamp: long })], "single");
    for (let n = 1; n < 48; n++) {
      clock.moveTo(START + n * 30 * MINUTE);
      engine.accept([signedUp("b", { timestamp: long })], "single");
      engine.advance();
    }
    expect(engine.document("a")).toMatchObject({ lifecycle: "trial" });
    expect(engine.population.nextDueAt).toBe(START + DAY);
    advanceTo(START + DAY);
    expect(engine.document("a")).toMatchObject({ lifecycle: "quiet" });
    expect(engine.document("b")).toMatchObject({ lifecycle: "trial" });
  });

  test("do not delay those of customers without late events", () => {
    ({ engine, clock } = localEngine(MODEL, { settleMs: 1000 * DAY }));
    engine.accept([signedUp("a", { timestamp: long }), signedUp("b")], "batch");
    advanceTo(START + 22 * DAY);
    expect(engine.document("b")).toMatchObject({ lifecycle: "quiet" });
  });
});

describe("another model", () => {
  test("keeps idempotency keys, and events that its strict schema would refuse", () => {
    ({ engine } = localEngine({ ...MODEL, strictSchema: false }));
    engine.accept([{ customerId: "a", event: "unheard_of", idempotencyKey: "k" }], "single");
    engine.replaceModel(localModel({ ...MODEL, strictSchema: true }));
    expect(engine.document("a")).toMatchObject({ lastEventAt: iso(START) });
    expect(refusal(engine, [signedUp("a", { idempotencyKey: "k" })])).toMatchObject({ status: 409 });
  });

  test("is rejected if it cannot be evaluated", () => {
    engine.accept([signedUp("a")], "single");
    const before = visibleState(engine);
    const circle = { kind: "segment", segment: "one" } as const;
    expect(() => engine.replaceModel(localModel({ ...MODEL, segments: [{ id: "one", when: circle }] }))).toThrow();
    expect(visibleState(engine)).toEqual(before);
    expect(engine.snapshot).toBe(MODEL);
  });
});

test("shows the given environment and version", () => {
  ({ engine } = localEngine(MODEL, { environment: "live", configVersion: "v3" }));
  engine.accept([signedUp("a")], "single");
  expect(engine.document("a")).toMatchObject({ environment: "live", configVersion: "v3" });
  expect(engine.population.timeline("a")[0]).toMatchObject({ configVersion: "v3" });
});

test("a reset forgets customers and keys", () => {
  engine.accept([signedUp("a", { idempotencyKey: "k" })], "single");
  engine.reset();
  expect(engine.population.customerIds).toEqual([]);
  const { outcomes } = engine.accept([project("b", { idempotencyKey: "k" })], "single");
  expect(outcomes).toEqual([{ eventId: "evt_0000000000000400", duplicate: false }]);
});
