import fc from "fast-check";

import type {
  Condition,
  EventSelector,
  JourneyStatus,
  Measure,
  OccurrenceScope,
  PropertyCondition,
} from "../../../src/model/snapshot/types.js";

/** The parts of a model that its conditions may read. Segments must not read each other in a circle. */
export interface Readable {
  lifecycle: boolean;
  journeys: boolean;
  segments: readonly string[];
  health: boolean;
}

export const EVENTS = ["a", "b", "c"] as const;
export const STATES = ["s0", "s1", "s2", "s3"] as const;
/** Each journey with its steps: the same in every model, so that runs survive a change of version. */
export const JOURNEYS = { j0: ["t0", "t1"], j1: ["u0", "u1", "u2"] } as const;
export const COMPONENTS = ["h0", "h1"] as const;
export const BANDS = ["good", "fair", "poor"] as const;

/** One of several arbitraries, chosen by weight. */
export function weighted<Ts extends unknown[]>(
  ...choices: { [I in keyof Ts]: [weight: number, arbitrary: fc.Arbitrary<Ts[I]>] }
): fc.Arbitrary<Ts[number]> {
  return fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })));
}

// Few, commensurable lengths, so that instants often coincide.
export const duration = fc.constantFrom("6h", "12h", "1d", "3d");
const order = fc.constantFrom("eq", "ne", "lt", "lte", "gt", "gte");
const atLeastOne = { minLength: 1 };

const where: fc.Arbitrary<PropertyCondition> = fc.oneof(
  fc.record({
    kind: fc.constant("compare"),
    property: fc.constant("x"),
    operator: fc.constantFrom("eq", "ne", "gte", "lt"),
    value: fc.integer({ min: 0, max: 2 }),
  }),
  fc.constant({ kind: "exists", property: "y" }),
  fc.constant({ kind: "not", condition: { kind: "exists", property: "x" } }),
);

export const selector: fc.Arbitrary<EventSelector> = fc
  .record({ event: fc.constantFrom(...EVENTS), where: fc.option(where, { nil: null, freq: 1 }) })
  .map(({ event, where }) => (where === null ? { event } : { event, where }));

function scope({ lifecycle, journeys }: Readable): fc.Arbitrary<OccurrenceScope> {
  const starts: OccurrenceScope[] = [
    ...(lifecycle ? [{ since: "state" as const }] : []),
    ...(journeys ? Object.keys(JOURNEYS).map((journey) => ({ since: { journey } })) : []),
  ];
  const windowed = duration.map((within) => ({ within }));
  const always = fc.constant<OccurrenceScope>({});
  if (starts.length === 0) return weighted([3, always], [5, windowed]);
  return weighted([3, always], [5, windowed], [2, fc.constantFrom(...starts)]);
}

/** A measure for a condition or a score. */
export function measure(readable: Readable): fc.Arbitrary<Measure> {
  return weighted([14, occurring(readable)], [4, calculated(readable)], [1, previous]);
}

/** A number of the window before. */
const previous: fc.Arbitrary<Measure> = fc
  .record({ of: selector, aggregate: fc.constantFrom("sum", "avg", null), within: duration })
  .map(({ of, aggregate, within }) =>
    aggregate === null
      ? { kind: "count", of, within, previous: true }
      : { kind: "aggregate", function: aggregate, property: "x", of, within, previous: true },
  );

/** A ratio or a difference, often of numbers that move together. */
function calculated(readable: Readable): fc.Arbitrary<Measure> {
  const single = weighted(
    [8, occurring(readable).filter(({ kind }) => kind !== "daysSince")],
    [1, previous],
    [2, fc.constant<Measure>({ kind: "trait", trait: "seats" })],
  );
  const combined = (of: fc.Arbitrary<Measure>): fc.Arbitrary<Measure> =>
    fc
      .record({ of, other: single, isRatio: fc.boolean() })
      .map(({ of, other, isRatio }) =>
        isRatio ? { kind: "ratio", of, per: other } : { kind: "difference", of, minus: other },
      );
  const trend = previous.map((before): Measure => {
    const { previous: _, ...of } = before as Extract<Measure, { kind: "count" }>;
    return { kind: "ratio", of, per: before };
  });
  return weighted([5, combined(single)], [2, combined(combined(single))], [3, trend]);
}

/** A measure of occurrences. */
function occurring(readable: Readable): fc.Arbitrary<Measure> {
  const from = { of: selector, scope: scope(readable) };
  const x = fc.constant("x");
  const aggregated = fc.constantFrom("sum", "sum", "avg", "min", "max");
  const which = fc.constantFrom("first", "last");
  return weighted(
    [5, fc.record({ kind: fc.constant("count"), ...from })],
    [4, fc.record({ kind: fc.constant("aggregate"), function: aggregated, property: x, ...from })],
    [2, fc.record({ kind: fc.constant("distinct"), property: fc.constantFrom("x", "y", "day"), ...from })],
    [1, fc.record({ kind: fc.constant("latest"), property: x, ...from })],
    [1, fc.record({ kind: fc.constant("daysSince"), which, of: selector, scope: fc.constant<OccurrenceScope>({}) })],
  ).map(({ scope, ...rest }) => ({ ...rest, ...scope })); // oxfmt-ignore
}

const whole = fc.integer({ min: 0, max: 3 });
const limit = weighted([3, whole], [2, fc.constantFrom(0.3, 0.1, 1.5, -1)]);

function compared(readable: Readable): fc.Arbitrary<Condition> {
  return fc
    .record({ measure: measure(readable), operator: order, whole, limit })
    .map(({ measure, operator, whole, limit }): Condition => {
      if (measure.kind === "trait") return { kind: "trait", trait: measure.trait, operator, value: limit };
      if (measure.kind === "latest" || measure.kind === "aggregate") return { ...measure, operator, value: limit };
      if (measure.kind === "ratio" || measure.kind === "difference") return { ...measure, operator, value: limit };
      return { ...measure, operator, value: whole };
    });
}

function read(readable: Readable): fc.Arbitrary<Condition> {
  return fc.oneof(
    fc
      .record({ of: selector, value: fc.constantFrom("p", "q"), scope: scope(readable), ne: fc.boolean() })
      .map(({ of, value, scope, ne }): Condition => {
        return { kind: "latest", of, property: "y", operator: ne ? "ne" : "eq", value, ...scope };
      }),
    fc
      .record({ of: selector, property: fc.constantFrom("x", "y", "day"), scope: scope(readable) })
      .map(({ of, property, scope }): Condition => ({ kind: "latestExists", of, property, ...scope })),
  );
}

function sequence(readable: Readable): fc.Arbitrary<Condition> {
  return fc
    .record({ first: selector, then: selector, within: duration, scope: scope(readable) })
    .map(({ first, then, within, scope: { since } }): Condition => {
      return { kind: "sequence", first, then, within, ...(since && { since }) };
    });
}

const trait: fc.Arbitrary<Condition> = fc.oneof(
  fc.record({
    kind: fc.constant("trait"),
    trait: fc.constant("plan"),
    operator: fc.constantFrom("eq", "ne"),
    value: fc.constantFrom("free", "pro"),
  }),
  fc.constant<Condition>({ kind: "trait", trait: "plan", operator: "in", value: ["free", "pro"] }),
  fc.constant<Condition>({ kind: "trait", trait: "seats", operator: "gte", value: 2 }),
  fc.record({ kind: fc.constant("traitExists"), trait: fc.constantFrom("plan", "renewsOn") }),
  fc.record({ kind: fc.constant("traitDateWithin"), trait: fc.constant("renewsOn"), within: duration }),
  fc
    .option(duration, { nil: undefined })
    .map((by): Condition => ({ kind: "traitDatePassed", trait: "renewsOn", ...(by && { by }) })),
);

const timed: fc.Arbitrary<Condition> = fc.oneof(
  fc.record({ kind: fc.constant("inactiveFor"), duration }),
  fc.record({ kind: fc.constant("activeWithin"), duration }),
);

/** Leaves that read the values of other parts. */
function derived({ lifecycle, journeys, segments, health }: Readable): fc.Arbitrary<Condition>[] {
  const statuses: JourneyStatus[] = ["not_started", "active", "complete", "expired"];
  const steps = Object.entries(JOURNEYS).flatMap(([journey, ids]) => ids.map((step) => ({ journey, step })));
  const read: fc.Arbitrary<Condition>[] = [];
  if (lifecycle) {
    read.push(
      fc.record({ kind: fc.constant("lifecycle"), states: fc.subarray([...STATES], atLeastOne) }),
      fc.record({ kind: fc.constant("inState"), atLeast: duration }),
    );
  }
  if (journeys) {
    read.push(
      fc.record({
        kind: fc.constant("journey"),
        journey: fc.constantFrom(...Object.keys(JOURNEYS)),
        statuses: fc.subarray(statuses, atLeastOne),
      }),
      fc
        .record({ of: fc.constantFrom(...steps), is: fc.constantFrom("current", "completed") })
        .map(({ of, is }): Condition => ({ kind: "journeyStep", ...of, is })),
    );
  }
  if (segments.length > 0) {
    read.push(fc.record({ kind: fc.constant("segment"), segment: fc.constantFrom(...segments) }));
  }
  if (health) {
    read.push(
      fc
        .record({
          component: fc.option(fc.constantFrom(...COMPONENTS), { nil: undefined }),
          operator: fc.constantFrom("gte", "lt"),
          value: fc.constantFrom(25, 50, 75),
        })
        .map(({ component, ...rest }): Condition => ({ kind: "health", ...rest, ...(component && { component }) })),
      fc.record({ kind: fc.constant("healthBand"), bands: fc.subarray([...BANDS], atLeastOne) }),
    );
  }
  return read;
}

/** A condition that reads operations, traits, time and the given parts. */
export function condition(readable: Readable): fc.Arbitrary<Condition> {
  const parts = derived(readable);
  const leaf = weighted(
    [7, compared(readable)],
    [1, read(readable)],
    [2, sequence(readable)],
    [2, trait],
    [2, timed],
    ...(parts.length === 0 ? [] : [[4, fc.oneof(...parts)] as [number, fc.Arbitrary<Condition>]]),
  );
  const several = fc.array(leaf, { minLength: 2, maxLength: 3 });
  return weighted(
    [6, leaf],
    [1, several.map((conditions): Condition => ({ kind: "all", conditions }))],
    [1, several.map((conditions): Condition => ({ kind: "any", conditions }))],
    [1, leaf.map((condition): Condition => ({ kind: "not", condition }))],
  );
}
