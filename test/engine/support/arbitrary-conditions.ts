import fc from "fast-check";

import type {
  Condition,
  EventSelector,
  JourneyStatus,
  Measure,
  OccurrenceScope,
  PropertyCondition,
} from "../../../src/model/snapshot/types.js";

/** Which parts of a model its conditions may read. Segments that read each other without end make no model. */
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

// Few, commensurable lengths: instants coincide often.
export const duration = fc.constantFrom("6h", "12h", "1d", "3d");
const order = fc.constantFrom(...(["eq", "ne", "lt", "lte", "gt", "gte"] as const));
const atLeastOne = { minLength: 1 };

const where: fc.Arbitrary<PropertyCondition> = fc.oneof(
  fc.record({
    kind: fc.constant("compare" as const),
    property: fc.constant("x"),
    operator: fc.constantFrom(...(["eq", "ne", "gte", "lt"] as const)),
    value: fc.integer({ min: 0, max: 2 }),
  }),
  fc.constant({ kind: "exists" as const, property: "y" }),
  fc.constant({ kind: "not" as const, condition: { kind: "exists" as const, property: "x" } }),
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
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant({}) },
    { weight: 5, arbitrary: windowed },
    ...(starts.length === 0 ? [] : [{ weight: 2, arbitrary: fc.constantFrom(...starts) }]),
  );
}

/** What is measured of occurrences, as a condition compares it or a score is made of it. */
export function measure(readable: Readable): fc.Arbitrary<Measure> {
  const from = { of: selector, scope: scope(readable) };
  const kind = <K extends string>(name: K): fc.Arbitrary<K> => fc.constant(name);
  return fc.oneof(
    { weight: 5, arbitrary: fc.record({ kind: kind("count"), ...from }) },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: kind("aggregate"),
        function: fc.constantFrom(...(["sum", "sum", "avg", "min", "max"] as const)),
        property: fc.constant("x"),
        ...from,
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ kind: kind("distinct"), property: fc.constantFrom("x", "y", "day"), ...from }),
    },
    { weight: 1, arbitrary: fc.record({ kind: kind("latest"), property: fc.constant("x"), ...from }) },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: kind("daysSince"),
        which: fc.constantFrom("first" as const, "last" as const),
        of: selector,
        scope: fc.constant<OccurrenceScope>({}),
      }),
    },
  ).map(({ scope, ...rest }) => ({ ...rest, ...scope })); // prettier-ignore
}

const whole = fc.integer({ min: 0, max: 3 });
const limit = fc.oneof({ weight: 3, arbitrary: whole }, { weight: 2, arbitrary: fc.constantFrom(0.3, 0.1, 1.5, -1) });

function compared(readable: Readable): fc.Arbitrary<Condition> {
  return fc
    .record({ measure: measure(readable), operator: order, whole, limit })
    .map(({ measure, operator, whole, limit }): Condition => {
      if (measure.kind === "trait") return { kind: "trait", trait: measure.trait, operator, value: limit };
      if (measure.kind === "latest" || measure.kind === "aggregate") return { ...measure, operator, value: limit };
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
    kind: fc.constant("trait" as const),
    trait: fc.constant("plan"),
    operator: fc.constantFrom("eq" as const, "ne" as const),
    value: fc.constantFrom("free", "pro"),
  }),
  fc.constant<Condition>({ kind: "trait", trait: "plan", operator: "in", value: ["free", "pro"] }),
  fc.constant<Condition>({ kind: "trait", trait: "seats", operator: "gte", value: 2 }),
  fc.record({ kind: fc.constant("traitExists" as const), trait: fc.constantFrom("plan", "renewsOn") }),
  fc.record({ kind: fc.constant("traitDateWithin" as const), trait: fc.constant("renewsOn"), within: duration }),
  fc
    .option(duration, { nil: undefined })
    .map((by): Condition => ({ kind: "traitDatePassed", trait: "renewsOn", ...(by && { by }) })),
);

const timed: fc.Arbitrary<Condition> = fc.oneof(
  fc.record({ kind: fc.constant("inactiveFor" as const), duration }),
  fc.record({ kind: fc.constant("activeWithin" as const), duration }),
);

/** Leaves that read the values of other parts. */
function derived({ lifecycle, journeys, segments, health }: Readable): fc.Arbitrary<Condition>[] {
  const statuses: JourneyStatus[] = ["not_started", "active", "complete", "expired"];
  const steps = Object.entries(JOURNEYS).flatMap(([journey, ids]) => ids.map((step) => ({ journey, step })));
  const kind = <K extends string>(name: K): fc.Arbitrary<K> => fc.constant(name);
  const read: fc.Arbitrary<Condition>[] = [];
  if (lifecycle) {
    read.push(
      fc.record({ kind: kind("lifecycle"), states: fc.subarray([...STATES], atLeastOne) }),
      fc.record({ kind: kind("inState"), atLeast: duration }),
    );
  }
  if (journeys) {
    read.push(
      fc.record({
        kind: kind("journey"),
        journey: fc.constantFrom(...Object.keys(JOURNEYS)),
        statuses: fc.subarray(statuses, atLeastOne),
      }),
      fc
        .record({ of: fc.constantFrom(...steps), is: fc.constantFrom("current" as const, "completed" as const) })
        .map(({ of, is }): Condition => ({ kind: "journeyStep", ...of, is })),
    );
  }
  if (segments.length > 0) {
    read.push(fc.record({ kind: kind("segment"), segment: fc.constantFrom(...segments) }));
  }
  if (health) {
    read.push(
      fc
        .record({
          component: fc.option(fc.constantFrom(...COMPONENTS), { nil: undefined }),
          operator: fc.constantFrom("gte" as const, "lt" as const),
          value: fc.constantFrom(25, 50, 75),
        })
        .map(({ component, ...rest }): Condition => ({ kind: "health", ...rest, ...(component && { component }) })),
      fc.record({ kind: kind("healthBand"), bands: fc.subarray([...BANDS], atLeastOne) }),
    );
  }
  return read;
}

/** A condition that reads operations, traits, time and the given parts. */
export function condition(readable: Readable): fc.Arbitrary<Condition> {
  const parts = derived(readable);
  const leaf = fc.oneof(
    { weight: 7, arbitrary: compared(readable) },
    { weight: 1, arbitrary: read(readable) },
    { weight: 2, arbitrary: sequence(readable) },
    { weight: 2, arbitrary: trait },
    { weight: 2, arbitrary: timed },
    ...(parts.length === 0 ? [] : [{ weight: 4, arbitrary: fc.oneof(...parts) }]),
  );
  const several = fc.array(leaf, { minLength: 2, maxLength: 3 });
  return fc.oneof(
    { weight: 6, arbitrary: leaf },
    { weight: 1, arbitrary: several.map((conditions): Condition => ({ kind: "all", conditions })) },
    { weight: 1, arbitrary: several.map((conditions): Condition => ({ kind: "any", conditions })) },
    { weight: 1, arbitrary: leaf.map((inner): Condition => ({ kind: "not", condition: inner })) },
  );
}
