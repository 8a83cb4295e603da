import { expect, it } from "vitest";

import { evaluate, explain, newCustomer, type Json, type Model } from "../../src/engine/index.js";
import {
  addTo,
  aggregate,
  at,
  counted,
  emit,
  happened,
  healthOf,
  modelOf,
  rule,
  seen,
  trait,
} from "./support/builders.js";

const LOGIN = seen(1, at("01-01"), "login");
const evaluated = (model: Model, operations = [LOGIN], traits: Record<string, Json> = {}) =>
  evaluate(model, { ...newCustomer("c1", at("01-01")), traits }, operations, { now: at("01-01"), timers: "fire" });

/** Traits of which one cannot be read: a fault that only a mistake in the engine could cause, but no snapshot or JSON. */
function broken(): Record<string, Json> {
  return Object.defineProperty({}, "plan", {
    enumerable: true,
    get: () => {
      throw new Error("the trait cannot be read");
    },
  });
}

it("a rule whose condition throws is logged as an error with the reason, and everything else is evaluated", () => {
  const model = modelOf({
    states: { new: [["active", happened("login")]], active: [] },
    segments: { seen: happened("login"), rich: null },
    rules: {
      faulty: rule("login", addTo("rich"), { when: trait("plan", "eq", "pro") }),
      sound: rule("login", emit("login.seen")),
    },
  });
  const { state, effects } = evaluated(model, [LOGIN], broken());
  expect(state.lifecycle?.state).toBe("active");
  expect(Object.keys(state.segments)).toEqual(["seen"]);
  expect(effects.filter((effect) => effect.kind === "ruleExecuted")).toMatchObject([
    { rule: "faulty", result: "error", conditions: {}, error: "Error: the trait cannot be read" },
    { rule: "sound", result: "pass", error: null },
  ]);
});

it("a segment whose condition throws fails the customer's whole evaluation", () => {
  const model = modelOf({ segments: { pro: trait("plan", "eq", "pro") } });
  expect(() => evaluated(model, [LOGIN], broken())).toThrow("cannot be read");
});

it("a sum beyond the range of doubles is the largest double, and is explained like any other", () => {
  const when = aggregate("sum", ["login", "n"], "lte", 0);
  const model = modelOf({
    segments: { low: when },
    rules: { low: rule("login", emit("login.low"), { when }) },
  });
  const huge = [1, 2].map((seq) => seen(seq, at("01-01"), "login", { n: 1e308 }));
  const { state, effects } = evaluated(model, huge);
  const results = effects.filter((effect) => effect.kind === "ruleExecuted").map(({ result }) => result);
  expect(results).toEqual(["fail", "fail"]);
  expect(explain(model, state).segments[0]).toMatchObject({
    member: false,
    condition: { actual: Number.MAX_VALUE, missing: -Number.MAX_VALUE, met: false },
  });
});

it("the overall health is the mean of the components before rounding", () => {
  const health = healthOf({ full: [2, counted("login", 1)], third: [2, counted("login", 1.5)] }, { any: 0 });
  const model = modelOf({ health });
  const { state } = evaluated(model);
  expect(state.health).toEqual({ overall: 83.33, components: { full: 100, third: 66.67 }, band: "any" });
});
