import { describe, expect, it } from "vitest";

import {
  evaluate,
  timersHeldUntil,
  newCustomer,
  type CustomerState,
  type IdentifyOperation,
  type Model,
  type Operation,
  type TrackOperation,
} from "../../src/engine/index.js";
import {
  all,
  at,
  count,
  happened,
  inactiveFor,
  inSegment,
  modelOf,
  seen,
  trait,
  type Properties,
} from "./support/builders.js";
import { rebuildMemory } from "./support/whole-history.js";

// What the tables of spec.test.ts cannot show, because they see a customer only from outside.

const track = (seq: number, event: string, occurred: string, accepted = occurred): TrackOperation => {
  return { ...seen(seq, at(occurred), event), acceptedAt: at(accepted) };
};
const identify = (seq: number, traits: Properties, accepted: string): IdentifyOperation => {
  return { kind: "identify", seq, traits, acceptedAt: at(accepted) };
};
const fold = (model: Model, operations: Operation[]): ReturnType<typeof evaluate> =>
  evaluate(model, newCustomer("c1", at("01-01")), operations, { now: at("01-01"), timers: "fire" });

describe("evaluate", () => {
  it("refuses a state whose memory belongs to another model", () => {
    const { state } = fold(modelOf({ segments: { s: happened("a") } }), [track(1, "a", "01-01")]);
    const other = modelOf({ segments: { s: happened("b") } });
    expect(() => evaluate(other, state, [], { now: at("01-02"), timers: "fire" })).toThrow(
      /rebuild it from the retained/,
    );
  });

  it("leaves the state unchanged if nothing is due", () => {
    const model = modelOf({ segments: { s: inactiveFor("3d") } });
    const { state } = fold(model, [track(1, "a", "01-01")]);
    const ticked = evaluate(model, state, [], { now: at("01-03"), timers: "fire" });
    expect(ticked).toEqual({ state, effects: [], deferred: [], taken: 0, isDone: true });
  });

  it("keeps as many occurrences as the conditions need, once for all of them, however long the history is", () => {
    const model = modelOf({
      segments: {
        often: count("a", "gte", 3, { within: "7d" }),
        exactly: count("a", "eq", 5, { within: "1d" }),
        ever: count("b", "gte", 1000),
      },
    });
    const operations = Array.from({ length: 5000 }, (_, i) => {
      return seen(i + 1, at("01-01") + i * 60_000, i % 2 ? "a" : "b");
    });
    expect(fold(model, operations).state.memory.streams.map(({ count, seq }) => [count, seq])).toEqual([
      [2500, [4990, 4992, 4994, 4996, 4998, 5000]],
      [2500, []],
    ]);
  });

  it("limits how many identifies wait for evaluation while timers are held", () => {
    const model = modelOf({ segments: { s: trait("n", "gte", 0) } });
    const operations = Array.from({ length: 300 }, (_, i) => ({
      ...identify(i + 1, { n: i }, "01-01"),
      acceptedAt: at("01-01") + i,
    }));
    const { state } = evaluate(model, newCustomer("c1", 0), operations, { now: at("01-02"), timers: "hold" });
    expect(state.traitsDueAt).toHaveLength(100);
    expect(state.traitsDueAt.at(-1)).toBe(at("01-01") + 299);
    const { state: settled } = evaluate(model, state, [], { now: at("01-02"), timers: "fire" });
    expect(settled).toMatchObject({ traitsDueAt: [], evaluatedThrough: at("01-01") + 299, nextDueAt: null });
  });

  it("takes a trait named __proto__ as data", () => {
    const traits = JSON.parse('{"__proto__": {"plan": "pro"}}') as Properties;
    const { state } = fold(modelOf({ segments: { s: trait("plan", "eq", "pro") } }), [identify(1, traits, "01-01")]);
    expect(JSON.stringify(state.traits)).toBe('{"__proto__":{"plan":"pro"}}');
    expect(state.segments).toEqual({});
  });

  it("treats deeply equal traits as unchanged, in any order of keys", () => {
    const model = modelOf({ segments: { s: trait("plan", "eq", "pro") } });
    const { state } = fold(model, [identify(1, { a: { x: [1, { y: null }], z: 2 } }, "01-01")]);
    const dueAfter = (traits: Properties) =>
      evaluate(model, state, [identify(2, traits, "01-02")], { now: at("01-01"), timers: "hold" }).state.nextDueAt;
    expect(dueAfter({ a: { z: 2, x: [1, { y: null }] } })).toBeNull();
    expect(dueAfter({ a: { z: 2, x: [{ y: null }, 1] } })).toBe(at("01-02"));
  });

  it("refuses segments that read each other, or themselves, without end", () => {
    const both = { s1: inSegment("s2"), s2: inSegment("s1") };
    expect(() => modelOf({ segments: both })).toThrow(/cycle: segment s1, segment s2/);
    expect(() => modelOf({ segments: { s1: all(inSegment("s1")) } })).toThrow(/cycle: segment s1/);
  });
});

describe("another version of the model", () => {
  it("keeps the derived state and the due instant until its first evaluation", () => {
    const before = modelOf({ segments: { s: happened("a", { within: "7d" }), gone: happened("a"), manual: null } });
    const after = modelOf({
      segments: { s: happened("a", { within: "2d" }), twice: count("a", "gte", 2), manual: null },
    });
    const evaluated = [track(1, "a", "01-01"), track(2, "a", "01-02")];
    const { state } = fold(before, evaluated);
    const rebuilt = rebuildMemory(after, state, evaluated);
    expect({ ...rebuilt, memory: null }).toEqual({ ...state, memory: null });
    const { state: due } = evaluate(after, rebuilt, [], { now: at("01-09"), timers: "fire" });
    // Segments that the model no longer has stay unchanged.
    expect(due.segments).toEqual({ gone: { enteredAt: at("01-01") }, twice: { enteredAt: at("01-09") } });
  });

  it("rebuilds the same memory from the events in any order, the latest occurrences in order", () => {
    const often = modelOf({ segments: { s: count("a", "gte", 3, { within: "7d" }) } });
    const history = [1, 2, 3, 4].map((seq) => track(seq, "a", seq < 4 ? "01-02" : "01-01"));
    const { state } = fold(modelOf({}), history);
    const memory = { count: 4, occurredAt: [at("01-02"), at("01-02"), at("01-02")], seq: [1, 2, 3] };
    expect(fold(often, history).state.memory.streams).toEqual([memory]);
    expect(rebuildMemory(often, state, history).memory.streams).toEqual([memory]);
    expect(rebuildMemory(often, state, history.reverse()).memory.streams).toEqual([memory]);
  });
});

describe("a run of a journey under other steps", () => {
  const journeyOf = (...steps: string[]): Model => {
    const whens = steps.map((step): [string, ReturnType<typeof happened>] => [step, happened(step)]);
    return modelOf({ journeys: { j: { start: happened("start"), steps: whens, expiresAfter: "7d" } } });
  };
  const begun = [track(1, "start", "01-01"), track(2, "a", "01-02")];
  const next = [track(3, "other", "01-03")];
  const under = (after: Model) => {
    const { state } = fold(journeyOf("a", "b"), begun);
    return evaluate(after, rebuildMemory(after, state, begun), next, { now: at("01-03"), timers: "fire" });
  };

  it("is complete at the next evaluation if no step is left, and does not expire", () => {
    const { state, effects } = under(journeyOf("a"));
    const steps = { a: { completedAt: at("01-02") } };
    const j = { status: "complete", currentStep: "a", completedAt: at("01-03"), expiredAt: null, steps };
    expect(state.journeys).toMatchObject({ j });
    expect(state.nextDueAt).toBeNull();
    const emissions = effects.filter(({ kind }) => kind === "emission");
    expect(emissions).toMatchObject([{ type: "journey.completed", metadata: { journey: "j" } }]);
  });

  it("is complete without a step that is left also if the next evaluation is at its expiry", () => {
    const { state } = fold(journeyOf("a", "b"), begun);
    const after = journeyOf("a");
    const due = evaluate(after, rebuildMemory(after, state, begun), [], { now: at("01-08"), timers: "fire" });
    expect(due.state.journeys).toMatchObject({ j: { status: "complete", completedAt: at("01-08"), expiredAt: null } });
  });

  it("is at the first step that is left, also if that is new or came later", () => {
    const stepOf = (model: Model) => under(model).state.journeys["j"];
    expect(stepOf(journeyOf("new", "a", "b"))).toMatchObject({ status: "active", currentStep: "new" });
    expect(stepOf(journeyOf("a", "c"))).toMatchObject({ status: "active", currentStep: "c" });
    expect(stepOf(journeyOf("b", "a"))).toMatchObject({ status: "active", currentStep: "b" });
  });
});

describe("backfilling", () => {
  const stateAfter = (...operations: Operation[]): CustomerState => fold(modelOf({}), operations).state;

  it("begins more than five minutes after the occurrence", () => {
    expect(timersHeldUntil(stateAfter(track(1, "a", "01-01 10:00", "01-01 10:05")))).toBeNull();
    expect(timersHeldUntil(stateAfter(track(1, "a", "01-01 10:00", "01-01 10:05:00.001")))).not.toBeNull();
  });

  it("is decided by the last event in order of acceptance, not by an identify or an event passed in again", () => {
    expect(timersHeldUntil(newCustomer("c1", 0))).toBeNull();
    const late = track(2, "a", "01-01 10:00", "01-01 12:00");
    expect(timersHeldUntil(stateAfter(late, identify(3, { plan: "pro" }, "01-01 12:00")))).not.toBeNull();
    const ahead = track(1, "a", "01-02", "01-01 11:00");
    expect(timersHeldUntil(stateAfter(late), [ahead])).not.toBeNull();
    expect(timersHeldUntil(stateAfter(ahead), [late])).not.toBeNull();
    expect(timersHeldUntil(stateAfter(late), [track(3, "a", "01-01 12:01")])).toBeNull();
  });
});
