import fc from "fast-check";

import type {
  Action,
  Condition,
  Display,
  Health,
  HealthComponent,
  Journey,
  Lifecycle,
  Rule,
  Score,
  Signal,
  Snapshot,
  Trigger,
} from "../../../src/model/snapshot/types.js";
import {
  BANDS,
  COMPONENTS,
  condition,
  duration,
  JOURNEYS,
  measure,
  selector,
  STATES,
  weighted,
  type Readable,
} from "./arbitrary-conditions.js";
import { snapshotOf } from "./builders.js";

export { FINAL_INSTANT, inOrder, operations, START } from "./arbitrary-operations.js";

/** Segments with a condition read those after them; g3 is changed by rules. */
const SEGMENTS = ["g0", "g1", "g2", "g3"];
const MANUAL = "g3";

const NEVER: Condition = { kind: "any", conditions: [] };
/** Shrinks to nothing, which makes a counterexample short. */
const mostly = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(arbitrary, { nil: null, freq: 9 });

function lifecycle(readable: Readable): fc.Arbitrary<Lifecycle> {
  const transition = fc.record({ to: fc.constantFrom(...STATES), when: condition(readable) });
  const transitions = fc.array(transition, { maxLength: 2 });
  return fc.record({ of: fc.tuple(...STATES.map(() => transitions)), terminal: fc.boolean() }).map(({ of, terminal }) => ({
    initial: STATES[0],
    states: STATES.map((name, i) =>
      terminal && name === STATES[3] ? { name, terminal: true, transitions: [] } : { name, transitions: of[i]! },
    ),
  })); // oxfmt-ignore
}

function journey(id: keyof typeof JOURNEYS, readable: Readable): fc.Arbitrary<Journey> {
  const when = condition(readable);
  return fc
    .record({
      start: mostly(when),
      steps: fc.tuple(...JOURNEYS[id].map(() => fc.record({ when, funnel: fc.boolean() }))),
      mode: fc.constantFrom("checklist", "anyOrder", "funnel"),
      expiresAfter: fc.option(duration, { nil: undefined }),
      repeat: fc.boolean(),
    })
    .map(({ start, steps, mode, expiresAfter, repeat }) => ({
      id,
      start: start ?? NEVER,
      steps: steps.map(({ when, funnel }, i) => {
        const step = { id: JOURNEYS[id][i]!, when };
        return mode === "funnel" && funnel ? { ...step, since: "previousStep" as const } : step;
      }),
      ...(mode === "anyOrder" && { anyOrder: true as const }),
      ...(expiresAfter && { expiresAfter }),
      ...(repeat && { repeat: true as const }),
    }));
}

function score(readable: Readable): fc.Arbitrary<Score> {
  const of = measure(readable);
  const ends = fc.constantFrom([0, 4], [4, 0], [0, 3], [1, 2]);
  const steps = fc.constantFrom<[number, number][]>([[0, 100], [2, 50]], [[1, 33.333]], [[0, 10], [1, 80], [3, 20]]); // oxfmt-ignore
  return fc.oneof(
    fc.record({ of, ends }).map(({ of, ends: [from, to] }): Score => ({ kind: "scale", of, from, to })),
    fc.record({ kind: fc.constant("steps"), of, steps, otherwise: fc.constantFrom(0, 66.666) }),
    fc.constant<Score>({ kind: "map", trait: "plan", values: { free: 30, pro: 70 } }),
    fc.constant<Score>({ kind: "scale", of: { kind: "trait", trait: "seats" }, from: 0, to: 3 }),
  );
}

function health(readable: Readable): fc.Arbitrary<Health> {
  const weight = fc.constantFrom(0.3, 0.5, 2);
  const absent = fc.constantFrom(undefined, 40, "skip" as const);
  const components = fc.tuple(...COMPONENTS.map(() => fc.record({ weight, score: score(readable), absent })));
  return fc.tuple(components, fc.boolean()).map(([of, mayBeNone]) => ({
    components: of.map(({ absent, ...one }, i): HealthComponent => {
      const component = { id: COMPONENTS[i]!, ...one };
      const says = mayBeNone ? "skip" : absent;
      return says === undefined ? component : { ...component, absent: says };
    }),
    bands: BANDS.map((id, i) => ({ id, from: [70, 40, 0][i]! })),
  }));
}

/** The parts of a model. Its conditions read health only if it is `read`; otherwise health is refreshed once a day. */
interface Parts {
  lifecycle: boolean;
  journeys: boolean;
  health: "none" | "unread" | "read";
}

const stateMoved = fc.constantFrom("stateEntered", "stateExited");
const journeyMoved = fc.constantFrom("journeyStarted", "journeyCompleted", "journeyExpired");
const journeyStep = fc.constantFrom(
  ...Object.entries(JOURNEYS).flatMap(([journey, steps]) => steps.map((step) => ({ journey, step }))),
);
const bandMoved = fc.constantFrom("bandEntered", "bandExited");
const segmentMoved = fc.constantFrom("segmentEntered", "segmentExited");
const signalMoved = fc.constantFrom("signalRaised", "signalCleared");
function trigger({ lifecycle, journeys, health }: Parts): fc.Arbitrary<Trigger> {
  return weighted(
    [3, selector.map((of): Trigger => ({ kind: "event", of }))],
    [2, fc.constant<Trigger>({ kind: "traitsChanged" })],
    [lifecycle ? 2 : 0, fc.record({ kind: stateMoved, state: fc.constantFrom(...STATES) })],
    [journeys ? 2 : 0, fc.record({ kind: journeyMoved, journey: fc.constantFrom(...Object.keys(JOURNEYS)) })],
    [journeys ? 1 : 0, journeyStep.map((of): Trigger => ({ kind: "journeyStepCompleted", ...of }))],
    [2, fc.record({ kind: segmentMoved, segment: fc.constantFrom(...SEGMENTS) })],
    [health === "none" ? 0 : 2, fc.record({ kind: bandMoved, band: fc.constantFrom(...BANDS) })],
    [2, fc.record({ kind: signalMoved, signal: fc.constantFrom("w0", "w1", "w2") })],
  );
}

const action: fc.Arbitrary<Action> = fc.constantFrom<Action>(
  { kind: "addToSegment", segment: MANUAL },
  { kind: "removeFromSegment", segment: MANUAL },
  { kind: "emit", type: "custom.sent" },
  { kind: "raiseSignal", signal: "w1" },
  { kind: "clearSignal", signal: "w1" },
  { kind: "raiseSignal", signal: "w2" },
  { kind: "clearSignal", signal: "w2" },
);

function rules(parts: Parts, readable: Readable): fc.Arbitrary<Rule[]> {
  const rule = fc.record({
    on: trigger(parts),
    when: fc.option(condition(readable), { nil: undefined }),
    again: fc.constantFrom({}, {}, { cooldown: "12h" }, { once: true }),
    then: action,
  });
  return fc
    .array(rule, { maxLength: 3 })
    .map((of) =>
      of.map(({ on, when, again, then }, i) => ({ id: `r${i}`, on, ...(when && { when }), ...again, then })),
    );
}

/** One with a condition, one that clears itself, and one that only rules change. */
function signals(readable: Readable): fc.Arbitrary<Signal[]> {
  return fc.tuple(mostly(condition(readable)), duration).map(([when, length]) => [
    { id: "w0", severity: "warning", when: when ?? NEVER },
    { id: "w1", severity: "info", for: length },
    { id: "w2", severity: "critical", message: "look here" },
  ]);
}

const properties: Snapshot["events"][string]["properties"] = {
  x: { type: "number", optional: true },
  y: { type: "string", optional: true },
  day: { type: "date", optional: true },
};
const DECLARED: Pick<Snapshot, "events" | "traits"> = {
  events: { a: { properties }, b: { properties }, c: { properties }, other: { properties } },
  traits: { plan: { type: "string" }, seats: { type: "number" }, renewsOn: { type: "date" } },
};

/** Mostly none, because a display does not affect evaluation. */
const display: fc.Arbitrary<Display | null> = fc.option(
  fc.record(
    {
      name: fc.constant("plan"),
      renewal: fc.constant("renewsOn"),
      show: fc.uniqueArray(fc.constantFrom(...Object.keys(DECLARED.traits)), { minLength: 1 }),
    },
    { requiredKeys: ["name"] },
  ),
  { nil: null, freq: 1 },
);

function snapshotWith(parts: Parts): fc.Arbitrary<Snapshot> {
  const readable: Readable = { ...parts, segments: SEGMENTS, health: parts.health === "read" };
  const later = (index: number): fc.Arbitrary<Condition> =>
    condition({ ...readable, segments: SEGMENTS.slice(index + 1) });
  return fc
    .record({
      lifecycle: parts.lifecycle ? lifecycle(readable) : fc.constant(null),
      journeys: parts.journeys
        ? fc.tuple(journey("j0", readable), journey("j1", readable))
        : fc.constant<Journey[]>([]),
      segments: fc.tuple(mostly(later(0)), mostly(later(1)), mostly(later(2))),
      health: parts.health === "none" ? fc.constant(null) : health(readable),
      rules: rules(parts, readable),
      signals: signals(readable),
      display,
    })
    .map(({ segments, display, ...rest }): Snapshot => {
      const when = Object.fromEntries(SEGMENTS.map((id, i) => [id, segments[i] ?? null]));
      return { ...snapshotOf({ segments: when, ...DECLARED }), ...rest, ...(display && { display }) };
    });
}

/** A model whose cycles pass through the lifecycle or a journey. */
export const snapshot: fc.Arbitrary<Snapshot> = weighted(
  [3, snapshotWith({ lifecycle: true, journeys: true, health: "unread" })],
  [3, snapshotWith({ lifecycle: true, journeys: true, health: "read" })],
  [1, snapshotWith({ lifecycle: true, journeys: false, health: "none" })],
  [1, snapshotWith({ lifecycle: false, journeys: true, health: "unread" })],
  [1, snapshotWith({ lifecycle: false, journeys: false, health: "read" })],
);
