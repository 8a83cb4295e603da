import { describe, expect, it } from "vitest";

import {
  compileModel,
  evaluate,
  heldUntil,
  newCustomer,
  rebuildMemory,
  stateDocument,
  type CustomerState,
  type Model,
  type Operation,
} from "../../src/engine/index.js";
import {
  all,
  at,
  count,
  happened,
  inactiveFor,
  inLifecycle,
  inSegment,
  inState,
  modelOf,
  snapshotOf,
  trait,
  traitExists,
  type Properties,
} from "./support/builders.js";
import { LiveCustomer } from "./support/live.js";
import { underEngine } from "./support/subject-engine.js";

const track = (seq: number, event: string, occurred: string, accepted = occurred): Operation => ({
  kind: "track",
  seq,
  eventId: `e${seq}`,
  event,
  properties: {},
  occurredAt: at(occurred),
  acceptedAt: at(accepted),
});
const identify = (seq: number, traits: Properties, accepted: string): Operation => ({
  kind: "identify",
  seq,
  traits,
  acceptedAt: at(accepted),
});
const fold = (model: Model, operations: Operation[], now = "01-01"): ReturnType<typeof evaluate> =>
  evaluate(model, newCustomer("c1", at("01-01")), operations, { now: at(now), timers: "fire" });

describe("evaluate", () => {
  it("changes nothing of the state and the operations handed in", () => {
    const model = modelOf({ states: { a: [["b", happened("go")]], b: [] }, segments: { s: happened("go") } });
    const state = fold(model, [track(1, "go", "01-01")]).state;
    const before = structuredClone(state);
    const operations = [track(2, "go", "01-02"), identify(3, { plan: "pro" }, "01-02")];
    const given = structuredClone(operations);
    evaluate(model, state, operations, { now: at("01-03"), timers: "fire" });
    expect(state).toEqual(before);
    expect(operations).toEqual(given);
  });

  it("refuses a state whose memory is that of another model", () => {
    const { state } = fold(modelOf({ segments: { s: happened("a") } }), [track(1, "a", "01-01")]);
    const other = modelOf({ segments: { s: happened("b") } });
    expect(() => evaluate(other, state, [], { now: at("01-02"), timers: "fire" })).toThrow(
      /rebuild it from the retained/,
    );
  });

  it("does not move the clock where nothing is due", () => {
    const model = modelOf({ segments: { s: inactiveFor("3d") } });
    const { state } = fold(model, [track(1, "a", "01-01")]);
    const ticked = evaluate(model, state, [], { now: at("01-03"), timers: "fire" });
    expect(ticked).toEqual({ state, effects: [], deferred: [], taken: 0, isDone: true });
  });

  it("evaluates what is due before an operation also where timers are held, and nothing after it", () => {
    const model = modelOf({ segments: { quiet: inactiveFor("3d") } });
    const held = { now: at("02-01"), timers: "hold" } as const;
    const operations = [track(1, "a", "01-01", "02-01"), track(2, "a", "01-10", "02-01")];
    const { state, effects } = evaluate(model, newCustomer("c1", 0), operations, held);
    expect(effects.filter(({ kind }) => kind !== "emission")).toMatchObject([
      { kind: "segmentEntered", at: at("01-04"), cause: { kind: "timer" } },
      { kind: "segmentExited", at: at("01-10"), enteredAt: at("01-04"), cause: { kind: "event", eventId: "e2" } },
    ]);
    expect(state.nextDueAt).toBe(at("01-13"));
  });

  it("keeps as many occurrences as the model's conditions need, whatever the history", () => {
    const model = modelOf({
      segments: {
        often: count("a", "gte", 3, { within: "7d" }),
        exactly: count("a", "eq", 5, { within: "1d" }),
        ever: count("b", "gte", 1000),
      },
    });
    const operations = Array.from({ length: 5000 }, (_, i) => ({
      ...track(i + 1, i % 2 ? "a" : "b", "01-01"),
      occurredAt: at("01-01") + i * 60_000,
      acceptedAt: at("01-01") + i * 60_000,
    }));
    const { memory } = fold(model, operations).state;
    expect(memory.streams.map(({ count, seq }) => [count, seq])).toEqual([
      [2500, [4990, 4992, 4994, 4996, 4998, 5000]],
      [2500, []],
    ]);
  });

  it("keeps the latest occurrences in order where late ones come between", () => {
    const model = modelOf({ segments: { often: count("a", "gte", 3, { within: "7d" }) } });
    const operations = [
      track(1, "a", "01-10"),
      track(2, "a", "01-04", "01-10"),
      track(3, "a", "01-08", "01-10"),
      track(4, "a", "01-08", "01-10"),
      track(5, "a", "01-01", "01-10"),
    ];
    const [stream] = fold(model, operations, "01-10").state.memory.streams;
    expect(stream).toEqual({ count: 5, occurredAt: [at("01-08"), at("01-08"), at("01-10")], seq: [3, 4, 1] });
  });

  it("shares one stream between conditions on the same occurrences", () => {
    const model = modelOf({
      segments: {
        s1: count("a", "gte", 2, { within: "1d" }),
        s2: count("a", "gte", 9, { within: "7d" }),
        s3: happened("a"),
      },
    });
    expect(model.registry.streams.map(({ event, capacity }) => [event, capacity])).toEqual([["a", 9]]);
  });

  it("bounds the identifies that await their evaluation while timers are held", () => {
    const model = modelOf({ segments: { s: trait("n", "gte", 0) } });
    const operations: Operation[] = Array.from({ length: 300 }, (_, i) => ({
      kind: "identify",
      seq: i + 1,
      traits: { n: i },
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

  it("takes traits that are equal in depth for unchanged, whatever the order of their keys", () => {
    const model = modelOf({ segments: { s: trait("plan", "eq", "pro") } });
    const { state } = fold(model, [identify(1, { a: { x: [1, { y: null }], z: 2 } }, "01-01")]);
    const again = [identify(2, { a: { z: 2, x: [1, { y: null }] } }, "01-02")];
    expect(evaluate(model, state, again, { now: at("01-01"), timers: "hold" }).state.nextDueAt).toBeNull();
    const changed = [identify(2, { a: { z: 2, x: [{ y: null }, 1] } }, "01-02")];
    expect(evaluate(model, state, changed, { now: at("01-01"), timers: "hold" }).state.nextDueAt).toBe(at("01-02"));
  });

  it("evaluates a timer at the instant of an identify before it merges", () => {
    const model = modelOf({
      states: { a: [["pro", trait("plan", "eq", "pro")], ["quiet", inactiveFor("1d")]], quiet: [], pro: [] },
    }); // prettier-ignore
    const { effects } = fold(model, [track(1, "x", "01-01"), identify(2, { plan: "pro" }, "01-02")], "01-02");
    expect(effects.filter(({ kind }) => kind === "transition")).toMatchObject([
      { to: "a", cause: { kind: "event", eventId: "e1" } },
      { to: "quiet", at: at("01-02"), cause: { kind: "timer" } },
    ]);
  });

  it("evaluates an identify that is due at the clock before a later one merges, whether or not a tick came between", () => {
    const model = modelOf({ segments: { free: trait("plan", "eq", "free"), pro: trait("plan", "eq", "pro") } });
    // An event a little ahead moves the clock past what is accepted next, and a late one lets no timer pass the clock.
    const ahead = track(1, "a", "01-02 12:04", "01-02 12:00");
    const late = track(2, "a", "01-02 11:00", "01-02 12:01");
    const [first, second] = [identify(3, { plan: "free" }, "01-02 12:02"), identify(4, { plan: "pro" }, "01-02 12:10")];
    const start = evaluate(model, newCustomer("c1", 0), [ahead, late, first], { now: 0, timers: "hold" });
    expect(start.state).toMatchObject({ evaluatedThrough: at("01-02 12:04"), nextDueAt: at("01-02 12:04") });

    const together = evaluate(model, start.state, [second], { now: at("01-02 12:10"), timers: "fire" });
    const ticked = evaluate(model, start.state, [], { now: at("01-02 12:04"), timers: "fire" });
    const apart = evaluate(model, ticked.state, [second], { now: at("01-02 12:10"), timers: "fire" });

    expect(together.effects).toEqual([...ticked.effects, ...apart.effects]);
    expect(together.state).toEqual(apart.state);
    expect(together.effects.filter(({ kind }) => kind !== "emission")).toMatchObject([
      { kind: "segmentEntered", segment: "free", at: at("01-02 12:04"), cause: { kind: "identify" } },
      { kind: "segmentExited", segment: "free", at: at("01-02 12:10") },
      { kind: "segmentEntered", segment: "pro", at: at("01-02 12:10") },
    ]);
  });

  it("evaluates identifies that are due at the clock together", () => {
    const model = modelOf({ segments: { free: trait("plan", "eq", "free"), known: traitExists("plan") } });
    const { effects } = fold(
      model,
      [
        track(1, "a", "01-02 12:04", "01-02 12:00"),
        track(2, "a", "01-02 11:00", "01-02 12:01"),
        identify(3, { plan: "free" }, "01-02 12:02"),
        identify(4, { plan: "pro" }, "01-02 12:03"),
      ],
      "01-02 12:10",
    );
    expect(effects.filter(({ kind }) => kind !== "emission")).toMatchObject([
      { kind: "segmentEntered", segment: "known", at: at("01-02 12:04"), cause: { kind: "identify" } },
    ]);
  });

  it("emits with source and metadata", () => {
    const model = modelOf({ states: { a: [["b", happened("go")]], b: [] }, segments: { s: happened("go") } });
    const { effects } = fold(model, [track(1, "go", "01-01")]);
    expect(effects.filter(({ kind }) => kind === "emission")).toMatchObject([
      { type: "customer.created", source: "lifecycle", metadata: { previous_lifecycle: null, new_lifecycle: "a" } },
      { type: "customer.b", source: "lifecycle", metadata: { previous_lifecycle: "a", new_lifecycle: "b" } },
      { type: "segment.entered", source: "segment", metadata: { segment: "s" } },
    ]);
  });

  it("derives nothing under a model without items, and still merges traits and moves the clock", () => {
    const { state, effects } = fold(modelOf({}), [identify(1, { plan: "pro" }, "01-01"), track(2, "a", "01-01")]);
    expect(effects).toEqual([]);
    expect(state).toMatchObject({
      traits: { plan: "pro" },
      evaluatedThrough: at("01-01"),
      lifecycle: null,
      segments: {},
    });
  });
});

describe("an event that lies ahead", () => {
  const model = modelOf({ states: { new: [["active", happened("a")]], active: [] } });

  it("is handed back, and the customer is due at the acceptance where it is the first operation", () => {
    const ahead = track(1, "a", "01-01 12:00", "01-01 10:00");
    const held = evaluate(model, newCustomer("c1", 0), [ahead], { now: at("01-01 10:00"), timers: "hold" });
    expect(held.deferred).toEqual([ahead]);
    expect(held.state).toMatchObject({ nextDueAt: at("01-01 10:00"), evaluatedThrough: null, lastEventAt: null });
    const fired = evaluate(model, held.state, held.deferred, { now: at("01-01 10:00"), timers: "fire" });
    expect(fired.state).toMatchObject({ nextDueAt: at("01-01 12:00"), evaluatedThrough: at("01-01 10:00") });
    expect(fired.state.lifecycle?.state).toBe("new");
    const then = evaluate(model, fired.state, fired.deferred, { now: at("01-01 12:00"), timers: "fire" });
    expect(then.deferred).toEqual([]);
    expect(then.state).toMatchObject({
      nextDueAt: null,
      lastEventAt: at("01-01 12:00"),
      lifecycle: { state: "active" },
    });
  });

  it("is evaluated at its instant before an operation later than it", () => {
    const operations = [track(1, "a", "01-01 12:00", "01-01 10:00"), track(2, "b", "01-01 13:00")];
    const { effects, deferred } = fold(model, operations, "01-01 13:00");
    expect(deferred).toEqual([]);
    expect(effects.filter(({ kind }) => kind === "transition")).toMatchObject([
      { to: "new", at: at("01-01 10:00"), cause: { kind: "timer" } },
      { to: "active", at: at("01-01 12:00"), cause: { kind: "event", eventId: "e1" } },
    ]);
  });
});

describe("another version of the model", () => {
  const before = modelOf({ segments: { s: happened("a", { within: "7d" }), gone: happened("a"), manual: null } });
  const after = modelOf({
    segments: { s: happened("a", { within: "2d" }), twice: count("a", "gte", 2), manual: null },
  });
  const evaluated = [track(1, "a", "01-01"), track(2, "a", "01-02")];

  it("keeps what was derived and the due instant until its first evaluation", () => {
    const { state } = fold(before, evaluated);
    const rebuilt = rebuildMemory(after, state, events(evaluated));
    expect({ ...rebuilt, memory: null }).toEqual({ ...state, memory: null });
    const ticked = evaluate(after, rebuilt, [], { now: at("01-08"), timers: "fire" });
    expect(ticked).toMatchObject({ state: { evaluatedThrough: at("01-02") }, effects: [] });
  });

  it("is first evaluated at the due instant of the former version, over the rebuilt memory", () => {
    const rebuilt = rebuildMemory(after, fold(before, evaluated).state, events(evaluated));
    const { state } = evaluate(after, rebuilt, [], { now: at("01-09"), timers: "fire" });
    expect(state.evaluatedThrough).toBe(at("01-09"));
    // What the model no longer knows stays as it was.
    expect(state.segments).toEqual({ gone: { enteredAt: at("01-01") }, twice: { enteredAt: at("01-09") } });
    expect(state.nextDueAt).toBeNull();
  });

  it("is first evaluated at the next operation if that comes first", () => {
    const rebuilt = rebuildMemory(after, fold(before, evaluated).state, events(evaluated));
    const { state, effects } = evaluate(after, rebuilt, [track(3, "b", "01-05")], { now: at("01-05"), timers: "fire" });
    expect(effects).toContainEqual(expect.objectContaining({ kind: "segmentExited", segment: "s", at: at("01-05") }));
    expect(state.segments).toEqual({ gone: { enteredAt: at("01-01") }, twice: { enteredAt: at("01-05") } });
  });

  it("rebuilds the same memory from the events in any order", () => {
    const often = modelOf({ segments: { s: count("a", "gte", 3, { within: "7d" }) } });
    const history = events([1, 2, 3, 4].map((seq) => track(seq, "a", seq < 4 ? "01-02" : "01-01")));
    const { state } = fold(modelOf({}), history);
    const memory = { count: 4, occurredAt: [at("01-02"), at("01-02"), at("01-02")], seq: [1, 2, 3] };
    expect(rebuildMemory(often, state, history).memory.streams).toEqual([memory]);
    expect(rebuildMemory(often, state, history.reverse()).memory.streams).toEqual([memory]);
  });

  it("leaves what merged traits make due to its first evaluation", () => {
    const near = modelOf({ segments: { near: { kind: "traitDateWithin", trait: "renewsOn", within: "7d" } } });
    const rebuilt = rebuildMemory(near, fold(modelOf({}), [track(1, "a", "01-01")]).state, []);
    const operations = [identify(2, { renewsOn: "2026-01-20" }, "01-05")];
    const { state } = evaluate(near, rebuilt, operations, { now: at("01-05"), timers: "hold" });
    expect(state.nextDueAt).toBe(at("01-05"));
    const { state: then } = evaluate(near, state, [], { now: at("01-05"), timers: "fire" });
    expect(then.nextDueAt).toBe(at("01-13"));
  });

  function events(operations: Operation[]): Extract<Operation, { kind: "track" }>[] {
    return operations.filter((operation) => operation.kind === "track");
  }
});

describe("the order of evaluation", () => {
  it("refuses segments that read each other, or themselves, without end", () => {
    const compile = (segments: Parameters<typeof snapshotOf>[0]["segments"]) => () =>
      compileModel(snapshotOf({ segments: segments! }), "hash");
    expect(compile({ s1: inSegment("s2"), s2: inSegment("s1") })).toThrow(/cycle: segment s1, segment s2/);
    expect(compile({ s1: all(inSegment("s1")) })).toThrow(/cycle: segment s1/);
  });

  it("puts a segment after the one it reads, wherever it is declared", () => {
    const model = snapshotOf({ segments: { s1: inSegment("s2"), s2: happened("a") } });
    const customer = new LiveCustomer(underEngine, model, [["e1", "track", "a", "01-01"]]);
    expect(customer.outcome().emissions).toEqual([
      "segment.entered (s2) 01-01 00:00 by e1",
      "segment.entered (s1) 01-01 00:00 by e1",
    ]);
  });

  it("keeps the default order within a cycle through the lifecycle, and repeats until nothing changes", () => {
    const model = snapshotOf({
      states: { new: [["grown", inSegment("big")]], grown: [] },
      segments: { big: all(inLifecycle("new"), happened("a")) },
    });
    const customer = new LiveCustomer(underEngine, model, [["e1", "track", "a", "01-01"]]);
    expect(customer.outcome().emissions).toEqual([
      "customer.created (null→new) 01-01 00:00 by e1",
      "segment.entered (big) 01-01 00:00 by e1",
      "customer.grown (new→grown) 01-01 00:00 by e1",
      "segment.exited (big) 01-01 00:00 by e1",
    ]);
  });

  it("ends where states replace each other by time, at every instant at which they do", () => {
    const model = snapshotOf({ states: { day: [["night", inState("12h")]], night: [["day", inState("12h")]] } });
    const customer = new LiveCustomer(underEngine, model, [["e1", "track", "a", "01-01"], ["tick", "01-03"]]); // prettier-ignore
    expect(customer.outcome().transitions).toHaveLength(5);
    expect(customer.outcome().clock).toBe("01-03 00:00, 01-01 00:00, 01-03 12:00");
  });
});

describe("backfilling", () => {
  const model = modelOf({});
  const stateAfter = (...operations: Operation[]): CustomerState => fold(model, operations).state;

  it("begins more than five minutes after the occurrence", () => {
    expect(heldUntil(stateAfter(track(1, "a", "01-01 10:00", "01-01 10:05")))).toBeNull();
    expect(heldUntil(stateAfter(track(1, "a", "01-01 10:00", "01-01 10:05:00.001")))).not.toBeNull();
  });

  it("is decided by the last event in order of acceptance, not by an identify, nor by one handed in again", () => {
    expect(heldUntil(newCustomer("c1", 0))).toBeNull();
    const late = track(2, "a", "01-01 10:00", "01-01 12:00");
    expect(heldUntil(stateAfter(late, identify(3, { plan: "pro" }, "01-01 12:00")))).not.toBeNull();
    const ahead = track(1, "a", "01-02", "01-01 11:00");
    expect(heldUntil(stateAfter(late), [ahead])).not.toBeNull();
    expect(heldUntil(stateAfter(ahead), [late])).not.toBeNull();
    expect(heldUntil(stateAfter(late), [track(3, "a", "01-01 12:01")])).toBeNull();
  });
});

describe("the state document", () => {
  it("tells times in ISO 8601 and segments in order", () => {
    const model = modelOf({
      states: { new: [["quiet", inactiveFor("1d")]], quiet: [] },
      segments: { z: happened("a"), b: happened("a") },
    });
    const { state } = fold(model, [identify(1, { plan: "pro" }, "01-01 10:00"), track(2, "a", "01-01 10:00")]);
    expect(stateDocument(state, { environment: "test", configVersion: "v1" })).toEqual({
      customerId: "c1",
      environment: "test",
      createdAt: "2026-01-01T00:00:00.000Z",
      lastEventAt: "2026-01-01T10:00:00.000Z",
      evaluatedThrough: "2026-01-01T10:00:00.000Z",
      configVersion: "v1",
      traits: { plan: "pro" },
      lifecycle: "new",
      lifecycleEnteredAt: "2026-01-01T10:00:00.000Z",
      segments: ["b", "z"],
      health: null,
      journeys: [],
      signals: [],
      nextDueAt: "2026-01-02T10:00:00.000Z",
    });
  });

  it("has no instants for a customer that was never evaluated", () => {
    const document = stateDocument(newCustomer("c1", 0), { environment: "live", configVersion: null });
    expect(document).toMatchObject({ lastEventAt: null, evaluatedThrough: null, lifecycle: null, nextDueAt: null });
  });
});
