import { expect, it } from "vitest";

import { evaluate, explain, newCustomer, type Json } from "../../src/engine/index.js";
import { aggregate, at, happened, modelOf, trait } from "./support/builders.js";

const LOGIN = {
  kind: "track" as const,
  seq: 1,
  eventId: "e1",
  event: "login",
  properties: {},
  occurredAt: at("01-01"),
  acceptedAt: at("01-01"),
};

/** Traits of which one cannot be read: a fault that no snapshot and no JSON can cause, as a mistake in the engine could. */
function broken(): Record<string, Json> {
  return Object.defineProperty({}, "plan", {
    enumerable: true,
    get: () => {
      throw new Error("the trait cannot be read");
    },
  });
}

it("a rule whose condition throws is logged as an error with the reason, and the rest is evaluated", () => {
  const model = modelOf({
    states: { new: [["active", happened("login")]], active: [] },
    segments: { seen: happened("login"), rich: null },
    rules: {
      faulty: {
        on: { kind: "event", of: { event: "login" } },
        when: trait("plan", "eq", "pro"),
        then: { kind: "addToSegment", segment: "rich" },
      },
      sound: { on: { kind: "event", of: { event: "login" } }, then: { kind: "emit", type: "login.seen" } },
    },
  });
  const customer = { ...newCustomer("c1", at("01-01")), traits: broken() };
  const { state, effects } = evaluate(model, customer, [LOGIN], { now: at("01-01"), timers: "fire" });
  expect(state.lifecycle?.state).toBe("active");
  expect(Object.keys(state.segments)).toEqual(["seen"]);
  expect(effects.filter((effect) => effect.kind === "ruleExecuted")).toMatchObject([
    { rule: "faulty", result: "error", conditions: {}, error: "Error: the trait cannot be read" },
    { rule: "sound", result: "pass", error: null },
  ]);
});

it("a segment whose condition throws fails the customer's evaluation as a whole", () => {
  const model = modelOf({ segments: { pro: trait("plan", "eq", "pro") } });
  const customer = { ...newCustomer("c1", at("01-01")), traits: broken() };
  expect(() => evaluate(model, customer, [LOGIN], { now: at("01-01"), timers: "fire" })).toThrow("cannot be read");
});

it("a sum beyond the range of doubles is the greatest double, and is explained like any other", () => {
  const model = modelOf({
    segments: { low: aggregate("sum", ["login", "n"], "lte", 0) },
    rules: {
      low: {
        on: { kind: "event", of: { event: "login" } },
        when: aggregate("sum", ["login", "n"], "lte", 0),
        then: { kind: "emit", type: "login.low" },
      },
    },
  });
  const huge = [1, 2].map((seq) => ({ ...LOGIN, seq, properties: { n: 1e308 } }));
  const { state, effects } = evaluate(model, newCustomer("c1", at("01-01")), huge, {
    now: at("01-01"),
    timers: "fire",
  });
  expect(effects.filter((effect) => effect.kind === "ruleExecuted").map(({ result }) => result)).toEqual([
    "fail",
    "fail",
  ]);
  expect(explain(model, state).segments[0]).toMatchObject({
    member: false,
    condition: { actual: Number.MAX_VALUE, missing: -Number.MAX_VALUE, met: false },
  });
});

it("the overall health is the mean of the components as they are, not as they are rounded", () => {
  const score = (to: number) => ({
    kind: "scale" as const,
    of: { kind: "count" as const, of: { event: "login" } },
    from: 0,
    to,
  });
  const model = modelOf({
    health: {
      components: [
        { id: "full", weight: 2, score: score(1) },
        { id: "third", weight: 2, score: score(1.5) },
      ],
      bands: [{ id: "any", from: 0 }],
    },
  });
  const { state } = evaluate(model, newCustomer("c1", at("01-01")), [LOGIN], { now: at("01-01"), timers: "fire" });
  expect(state.health).toEqual({ overall: 83.33, components: { full: 100, third: 66.67 }, band: "any" });
});
