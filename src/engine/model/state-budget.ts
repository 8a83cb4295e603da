import { at } from "../../model/snapshot/problem.js";
import type { Snapshot } from "../../model/snapshot/types.js";
import { REMEMBERED_OF_WINDOW } from "../aggregates/occurrences.js";
import { REMEMBERED_OF_LOG } from "../aggregates/sequence.js";
import { SHOWN_CHARACTERS } from "../conditions/phrases.js";
import { PENDING_IDENTIFIES_MAX } from "../evaluate.js";
import { UNIQUE_UNITS } from "../decimal.js";
import { REMEMBERED_OCCURRENCES_AHEAD } from "../measures/change-search.js";
import { REMEMBERED_LOWS } from "../measures/margins.js";
import { DISTINCT_TEXT_MAX, distinctText } from "../measures/measures.js";
import type { Aggregate, SearchedNumber } from "../open-customer.js";
import type {
  AggregateMemory,
  CustomerState,
  DistinctMemory,
  JourneyRun,
  MarginMemory,
  MarginsMemory,
  SearchMemory,
  StreamMemory,
} from "../state/types.js";
import { compileRegistry } from "./model.js";

// Examples of everything stored, each with the values that are longest as JSON.

/** The first instant of the year 1; none up to the year 9999 is longer. */
const INSTANT = -62_135_596_800_000;
const WHOLE = Number.MAX_SAFE_INTEGER;
const NUMBER = -2.2250738585072014e-308;
const EVENT_ID = `evt_${"f".repeat(16)}`;
const CUSTOMER_ID_CHARACTERS_MAX = 256;
/** Digits of a sum of doubles: the least double is 5e-324, the greatest 1.8e308, and 16 digits are for the number of addends. */
const SUM_DIGITS = 324 + 309 + 16;
const MODEL_KEY = `${"f".repeat(64)}/shared`;

const ORDER = { occurredAt: INSTANT, seq: WHOLE };
const SINCE = { at: INSTANT, by: ORDER };
const SCOPE = { latest: ORDER, since: SINCE };
const places = (count: number) => ({ occurredAt: many(count, INSTANT), seq: many(count, WHOLE) });
const occurrences = (count: number) => ({ ...places(count), value: many(count, NUMBER) });
const LOG = { ...places(REMEMBERED_OF_LOG), floor: ORDER };

const largestStream = (occurrences: number): StreamMemory => ({ count: WHOLE, ...places(occurrences) });

const largestDistinct = (values: number): DistinctMemory => ({
  kind: "distinct",
  value: many(values, longestText(DISTINCT_TEXT_MAX)),
  ...places(values),
});

type LargestAggregates = {
  [K in Exclude<AggregateMemory["kind"], "distinct">]: Extract<AggregateMemory, { kind: K }>;
};

/** The other aggregates, whose size is the same in every model, with a number of stored occurrences of a window. */
const largestAggregates = (stored: number): LargestAggregates => ({
  sum: {
    kind: "sum",
    sum: { units: `-${"9".repeat(SUM_DIGITS)}`, scale: SUM_DIGITS },
    count: WHOLE,
    positive: WHOLE,
    negative: WHOLE,
    scope: SCOPE,
    window: { oldest: occurrences(stored), others: WHOLE, othersFrom: ORDER },
  },
  extreme: { kind: "extreme", oldest: occurrences(stored), othersFrom: { ...ORDER, value: NUMBER }, scope: SCOPE },
  // A shown value is cut, which adds one character as a mark. It may be JSON in a string, so it is escaped twice.
  latest: { kind: "latest", latest: { ...ORDER, value: [false, longestText(SHOWN_CHARACTERS + 1)] } },
  first: { kind: "first", occurredAt: INSTANT },
  sequence: { kind: "sequence", met: false, first: LOG, then: LOG, since: SINCE },
});
const LARGEST_AGGREGATES = largestAggregates(REMEMBERED_OF_WINDOW);
const LARGEST_AHEAD = largestAggregates(REMEMBERED_OCCURRENCES_AHEAD);

const UNITS = -UNIQUE_UNITS;
const MARGIN: MarginMemory = {
  isLow: false,
  isIn: false,
  limitUnits: UNITS,
  least: UNITS,
  instants: many(REMEMBERED_LOWS, INSTANT),
  units: many(REMEMBERED_LOWS, UNITS),
};
const MARGINS: MarginsMemory = {
  decimals: 15,
  places: 15,
  blur: NUMBER,
  margins: [MARGIN, MARGIN],
  greatestDivisor: UNIQUE_UNITS,
  isWhole: false,
};

function largestSearch({ aggregates, anchors }: Pick<SearchedNumber, "aggregates" | "anchors">): SearchMemory {
  const outlook = {
    instant: INSTANT,
    aggregates: aggregates.map(({ kind }) => LARGEST_AHEAD[kind as keyof LargestAggregates]),
  };
  const anchor = distinctText("9".repeat(DISTINCT_TEXT_MAX + 1));
  return {
    number: WHOLE,
    present: NUMBER,
    anchors: many(anchors, anchor),
    outlook,
    checkpoint: { ...outlook, isOut: false },
    margins: MARGINS,
  };
}

/** Everything except the memory of conditions and the traits: every journey complete, every segment entered, every signal raised. */
function largestState({ lifecycle, journeys, segments, health, rules, signals }: Snapshot): CustomerState {
  const states = lifecycle?.states.map(({ name }) => name) ?? [];
  return {
    customerId: longestText(CUSTOMER_ID_CHARACTERS_MAX),
    createdAt: INSTANT,
    firstEvaluatedAt: INSTANT,
    evaluatedThrough: INSTANT,
    lastEventAt: INSTANT,
    lastTrack: { occurredAt: INSTANT, acceptedAt: INSTANT, seq: WHOLE },
    traits: {},
    traitsChangedAt: INSTANT,
    traitsChangedSeq: WHOLE,
    traitsDueAt: many(PENDING_IDENTIFIES_MAX, INSTANT),
    traitsDueSeqs: many(PENDING_IDENTIFIES_MAX, WHOLE),
    lifecycle: lifecycle && { state: longestOf(states), enteredAt: INSTANT, cause: ORDER },
    journeys: Object.fromEntries(journeys.map(({ id, steps }) => [id, largestRun(steps.map((step) => step.id))])),
    segments: Object.fromEntries(segments.map(({ id }) => [id, { enteredAt: INSTANT }])),
    health: health && {
      overall: NUMBER,
      components: Object.fromEntries(health.components.map(({ id }) => [id, NUMBER])),
      band: longestOf(health.bands.map(({ id }) => id)),
    },
    healthChangesAt: INSTANT,
    rules: Object.fromEntries(rules.map(({ id }) => [id, { passedAt: INSTANT }])),
    signals: Object.fromEntries(
      signals.map(({ id, severity, message = null }) => {
        return [id, { raisedAt: INSTANT, renewedAt: INSTANT, severity, message }];
      }),
    ),
    memory: { model: MODEL_KEY, awaitsEvaluation: false, streams: [], aggregates: [], searches: [] },
    timerDueAt: INSTANT,
    nextDueAt: INSTANT,
  };
}

function largestRun(steps: readonly string[]): JourneyRun {
  const done = { completedAt: INSTANT, triggeredBy: EVENT_ID, by: ORDER };
  return {
    run: WHOLE,
    status: "complete",
    currentStep: longestOf(steps),
    startedAt: INSTANT,
    startedBy: ORDER,
    steps: Object.fromEntries(steps.map((step) => [step, done])),
    completedAt: INSTANT,
    expiredAt: INSTANT,
    endedBy: ORDER,
  };
}

function many<T>(count: number, value: T): T[] {
  return Array.from({ length: count }, () => value);
}

/** Characters that JSON writes as `\u0001` take the most bytes. */
function longestText(characters: number): string {
  return "\u0001".repeat(characters);
}

/** The name that is longest as JSON. */
function longestOf(names: readonly string[]): string {
  const bytes = (name: string): number => Buffer.byteLength(JSON.stringify(name));
  return names.reduce((a, b) => (bytes(b) > bytes(a) ? b : a), "");
}

/** The memory of a condition, or of several that share it. */
export interface RememberedPart {
  /** The path of the first of the conditions in the snapshot. */
  path: string;
  /** How many conditions share it. */
  conditions: number;
  bytes: number;
}

/** The maximum size of one customer's state under a model, in bytes of JSON in UTF-8. */
export interface StateBudget {
  bytes: number;
  /** The memories of the conditions, the largest first. */
  parts: RememberedPart[];
}

/**
 * An upper bound of the size of one customer's state under a model, as the engine holds it, without the traits, which are the caller's data.
 * Its stored form is shorter.
 *
 * @param snapshot a valid one (see `parseSnapshot`)
 */
export function stateBudget(snapshot: Snapshot): StateBudget {
  const { streams, aggregates, searched } = compileRegistry(snapshot);
  const pathOf = pathsOf(snapshot);
  const part = (sources: readonly object[], bytes: number): RememberedPart => ({
    path: pathOf.get(sources[0]!)!,
    conditions: sources.length,
    // Plus the comma after it.
    bytes: bytes + 1,
  });
  const storedSearches = searched.filter(({ isRemembered }) => isRemembered);
  const parts = mergedByPath([
    ...streams.map(({ sources, capacity }) => part(sources, bytesOfList(largestStream, capacity))),
    ...aggregates.map((aggregate) => part(aggregate.sources, bytesOfAggregate(aggregate))),
    ...storedSearches.map((number) => part([number.source], bytesOf(largestSearch(number)))),
  ]).sort((a, b) => b.bytes - a.bytes);
  return { bytes: parts.reduce((sum, { bytes }) => sum + bytes, bytesOf(largestState(snapshot))), parts };
}

/** Merges the parts of the same path. */
function mergedByPath(parts: readonly RememberedPart[]): RememberedPart[] {
  const byPath = new Map<string, RememberedPart>();
  for (const { path, conditions, bytes } of parts) {
    const other = byPath.get(path);
    byPath.set(path, {
      path,
      conditions: Math.max(conditions, other?.conditions ?? 0),
      bytes: bytes + (other?.bytes ?? 0),
    });
  }
  return [...byPath.values()];
}

function bytesOfAggregate({ kind, capacity }: Aggregate): number {
  return kind === "distinct" ? bytesOfList(largestDistinct, capacity) : bytesOf(LARGEST_AGGREGATES[kind]);
}

/** The bytes of something with a number of elements, extrapolated from the size of the second element. */
function bytesOfList(largest: (elements: number) => unknown, elements: number): number {
  const [none, one, two] = [0, 1, 2].map((count) => bytesOf(largest(count))) as [number, number, number];
  return elements === 0 ? none : one + (elements - 1) * (two - one);
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

function pathsOf(snapshot: Snapshot): Map<unknown, string> {
  const paths = new Map<unknown, string>();
  const walk = (value: unknown, path: string): void => {
    if (typeof value !== "object" || value === null) return;
    paths.set(value, path);
    if (Array.isArray(value)) value.forEach((element, index) => walk(element, at(path, index)));
    else for (const [key, member] of Object.entries(value)) walk(member, at(path, key));
  };
  walk(snapshot, "");
  return paths;
}
