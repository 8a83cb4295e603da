import { expect, it } from "vitest";

import { evaluate, newCustomer, type Json } from "../../src/engine/index.js";
import { at, happened, modelOf, trait } from "./support/builders.js";

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
