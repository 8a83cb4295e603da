import fc from "fast-check";

import type { Condition, PropertyCondition, Snapshot } from "../../../src/snapshot/types.js";
import type { Operation, Json } from "../../../src/engine/index.js";
import { snapshotOf } from "./builders.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const START = Date.parse("2026-01-01T00:00:00Z");

const EVENTS = ["a", "b", "c"] as const;
const STATES = ["s0", "s1", "s2", "s3"];
const SEGMENTS = ["g0", "g1", "g2"];

// Few, commensurable lengths: instants coincide often.
const duration = fc.constantFrom("15m", "6h", "12h", "1d", "3d");

const where: fc.Arbitrary<PropertyCondition> = fc.oneof(
  fc.record({
    kind: fc.constant("compare" as const),
    property: fc.constant("x"),
    operator: fc.constantFrom("eq" as const, "ne" as const, "gte" as const, "lt" as const),
    value: fc.integer({ min: 0, max: 2 }),
  }),
  fc.constant({ kind: "exists" as const, property: "x" }),
  fc.constant({ kind: "not" as const, condition: { kind: "exists" as const, property: "x" } }),
);

const count: fc.Arbitrary<Condition> = fc
  .record({
    event: fc.constantFrom(...EVENTS),
    where: fc.option(where, { nil: undefined, freq: 3 }),
    within: fc.option(duration, { nil: undefined, freq: 3 }),
    since: fc.option(fc.constant("state" as const), { nil: undefined, freq: 1 }),
    operator: fc.constantFrom(
      "eq" as const,
      "ne" as const,
      "lt" as const,
      "lte" as const,
      "gt" as const,
      "gte" as const,
    ),
    value: fc.oneof(
      { weight: 9, arbitrary: fc.integer({ min: 0, max: 3 }) },
      { weight: 1, arbitrary: fc.constant(1.5) },
    ),
  })
  .map(({ event, where, within, since, operator, value }) => ({
    kind: "count" as const,
    of: { event, ...(where && { where }) },
    operator,
    value,
    ...(within && { within }),
    ...(since && { since }),
  }));

const trait: fc.Arbitrary<Condition> = fc.oneof(
  fc.record({
    kind: fc.constant("trait" as const),
    trait: fc.constant("plan"),
    operator: fc.constantFrom("eq" as const, "ne" as const),
    value: fc.constantFrom("free", "pro"),
  }),
  fc.constant<Condition>({ kind: "trait", trait: "plan", operator: "in", value: ["free", "pro"] }),
  fc.record({ kind: fc.constant("traitExists" as const), trait: fc.constantFrom("plan", "renewsOn") }),
  fc.record({ kind: fc.constant("traitDateWithin" as const), trait: fc.constant("renewsOn"), within: duration }),
);

const timed: fc.Arbitrary<Condition> = fc.oneof(
  fc.record({ kind: fc.constant("inactiveFor" as const), duration }),
  fc.record({ kind: fc.constant("activeWithin" as const), duration }),
  fc.record({ kind: fc.constant("inState" as const), atLeast: duration }),
);

function leaf(segments: string[]): fc.Arbitrary<Condition> {
  const reading: fc.Arbitrary<Condition>[] = [
    fc.record({ kind: fc.constant("lifecycle" as const), states: fc.subarray(STATES, { minLength: 1 }) }),
  ];
  if (segments.length > 0) {
    reading.push(fc.record({ kind: fc.constant("segment" as const), segment: fc.constantFrom(...segments) }));
  }
  return fc.oneof({ weight: 4, arbitrary: count }, trait, { weight: 2, arbitrary: timed }, fc.oneof(...reading));
}

/** A condition that reads the lifecycle and the given segments. */
function condition(segments: string[]): fc.Arbitrary<Condition> {
  const one = leaf(segments);
  const several = fc.array(one, { minLength: 2, maxLength: 3 });
  return fc.oneof(
    { weight: 4, arbitrary: one },
    fc.record({ kind: fc.constant("all" as const), conditions: several }),
    fc.record({ kind: fc.constant("any" as const), conditions: several }),
    one.map((inner) => ({ kind: "not" as const, condition: inner })),
  );
}

/** A model whose segments read later segments and the lifecycle, which reads them: cycles pass through the lifecycle. */
export const snapshot: fc.Arbitrary<Snapshot> = fc
  .record({
    transitions: fc.tuple(
      ...STATES.map(() =>
        fc.array(fc.tuple(fc.constantFrom(...STATES), condition(SEGMENTS)), { minLength: 0, maxLength: 2 }),
      ),
    ),
    terminal: fc.option(fc.constant("s3"), { nil: null }),
    segments: fc.tuple(condition(["g1", "g2"]), condition(["g2"]), fc.option(condition([]), { nil: null, freq: 4 })),
    lifecycle: fc.integer({ min: 0, max: 9 }).map((n) => n > 0),
  })
  .map(({ transitions, terminal, segments, lifecycle }) =>
    snapshotOf({
      states: lifecycle
        ? Object.fromEntries(
            STATES.map((name, i) => [name, name === terminal ? ("terminal" as const) : transitions[i]!]),
          )
        : {},
      segments: Object.fromEntries(SEGMENTS.map((id, i) => [id, segments[i]!])),
    }),
  );

const traits: fc.Arbitrary<Record<string, Json>> = fc.oneof(
  fc.record({ plan: fc.constantFrom("free", "pro", null) }),
  fc.record({ renewsOn: fc.constantFrom("2026-01-02", "2026-01-04T12:00:00Z", "2026-01-09", "soon", null) }),
);

/** How long after the operation before it one is accepted: often at once. */
const gap = fc.constantFrom(0, 0, 0, 4 * MINUTE, HOUR, 6 * HOUR, 12 * HOUR, 24 * HOUR);
/** How far from its acceptance an event occurred: mostly not at all, sometimes within the tolerance, late or ahead. */
const shift = fc.oneof(
  { weight: 5, arbitrary: fc.constant(0) },
  { weight: 2, arbitrary: fc.constantFrom(-4 * MINUTE, 4 * MINUTE, 5 * MINUTE, -5 * MINUTE) },
  { weight: 2, arbitrary: fc.constantFrom(-HOUR, -6 * HOUR, -24 * HOUR, -72 * HOUR) },
  { weight: 1, arbitrary: fc.constantFrom(6 * MINUTE, 6 * HOUR, 12 * HOUR) },
);

const draft = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("track" as const),
      gap,
      shift,
      event: fc.constantFrom(...EVENTS, "other"),
      properties: fc.constantFrom<Record<string, Json>>({}, { x: 0 }, { x: 1 }, { x: 2 }, { x: null }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("identify" as const), gap, traits }) },
);

/** Operations of one customer in order of acceptance. */
export const operations: fc.Arbitrary<Operation[]> = fc.array(draft, { minLength: 1, maxLength: 14 }).map((drafts) => {
  let acceptedAt = START;
  return drafts.map((one, i): Operation => {
    const seq = i + 1;
    acceptedAt += one.gap;
    if (one.kind === "identify") return { kind: "identify", seq, traits: one.traits, acceptedAt };
    const { event, properties } = one;
    return {
      kind: "track",
      seq,
      eventId: `e${seq}`,
      event,
      properties,
      occurredAt: acceptedAt + one.shift,
      acceptedAt,
    };
  });
});

export const FINAL_INSTANT = START + 30 * 24 * HOUR;
