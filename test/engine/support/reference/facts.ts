import { parseDuration } from "../../../../src/model/snapshot/duration.js";
import type {
  EventSelector,
  Measure,
  HealthComponent,
  OccurrenceScope,
  Snapshot,
} from "../../../../src/model/snapshot/types.js";
import type { Json, TrackOperation } from "../../../../src/engine/index.js";
import type { HealthScore, JourneyRun, Order, RaisedSignal } from "../../../../src/engine/state/types.js";
import { exactQuotient, fieldsOf, matches, read } from "./values.js";

const DAY = 86_400_000;

/**
 * The start from which occurrences count: those at or after an instant and later in order than the operation that caused it. With `isForAll`
 * it applies in addition to a condition's own start.
 */
export type Start = { at: number; by: Order | null; isForAll?: true } | "ever" | "never";

/** Everything that conditions read: the operations evaluated so far, and the derived state. */
export interface Facts {
  readonly snapshot: Snapshot;
  /** In order of occurrence, then acceptance. */
  readonly applied: readonly TrackOperation[];
  readonly firstEvaluatedAt: number | null;
  readonly lastEventAt: number | null;
  readonly traits: Record<string, Json>;
  readonly lifecycle: { state: string; enteredAt: number; cause: Order | null } | null;
  readonly journeys: ReadonlyMap<string, JourneyRun>;
  readonly segments: ReadonlyMap<string, number>;
  readonly health: HealthScore | null;
  readonly signals: ReadonlyMap<string, RaisedSignal>;
}

/** A customer with only its events and its lifecycle state. */
export function factsOf(snapshot: Snapshot, applied: Facts["applied"], lifecycle: Facts["lifecycle"] = null): Facts {
  const nothing = { firstEvaluatedAt: null, lastEventAt: null, traits: {}, health: null };
  return { snapshot, applied, lifecycle, ...nothing, journeys: new Map(), segments: new Map(), signals: new Map() };
}

function startOf(facts: Facts, since: NonNullable<OccurrenceScope["since"]>): Start {
  if (since === "state") {
    return facts.lifecycle === null ? "never" : { at: facts.lifecycle.enteredAt, by: facts.lifecycle.cause };
  }
  const run = facts.journeys.get(since.journey);
  return run === undefined ? "never" : { at: run.startedAt, by: run.startedBy };
}

function isSince(start: Start, { occurredAt, seq }: Order): boolean {
  if (typeof start === "string") return start === "ever";
  if (occurredAt < start.at) return false;
  const { by } = start;
  return by === null || occurredAt > by.occurredAt || (occurredAt === by.occurredAt && seq > by.seq);
}

/** Whether an occurrence counts for a condition: by its own start, otherwise by the start of the part it belongs to. */
export function isInScope(facts: Facts, since: OccurrenceScope["since"], start: Start, order: Order): boolean {
  if (since === undefined) return isSince(start, order);
  const isForAll = typeof start === "object" && start.isForAll === true;
  return isSince(startOf(facts, since), order) && (!isForAll || isSince(start, order));
}

/** The selected occurrences, in order, whatever their scope. */
export function selected(
  { snapshot, applied }: Pick<Facts, "snapshot" | "applied">,
  { event, where }: EventSelector,
): TrackOperation[] {
  return applied.filter(
    (one) => one.event === event && (where === undefined || matches(where, one.properties, fieldsOf(snapshot, event))),
  );
}

/** The selected occurrences that count at an instant; `start` applies if the scope has none. */
function counted(
  facts: Facts,
  { of, within, since }: { of: EventSelector } & OccurrenceScope,
  t: number,
  start: Start,
): TrackOperation[] {
  const length = within === undefined ? Infinity : parseDuration(within);
  return selected(facts, of).filter((one) => one.occurredAt > t - length && isInScope(facts, since, start, one));
}

/** The values of a property in the given occurrences, without absent ones and those of another type. */
function valuesOf(facts: Facts, event: string, property: string, occurrences: readonly TrackOperation[]): Json[] {
  const field = fieldsOf(facts.snapshot, event)[property];
  return occurrences.map((one) => read(one.properties, property, field)).filter((value) => value !== undefined);
}

/** The occurrences of a measure; for the window before, those that were in the window when the current one began. */
function occurrencesOf(
  facts: Facts,
  measure: { of: EventSelector; previous?: true } & OccurrenceScope,
  t: number,
  start: Start,
): TrackOperation[] {
  if (!measure.previous) return counted(facts, measure, t, start);
  const then = t - parseDuration(measure.within!);
  return counted(facts, measure, then, start).filter(({ occurredAt }) => occurredAt <= then);
}

/** The numbers whose exact sum is the measure; undefined if it is absent. */
function termsOf(facts: Facts, measure: Measure, t: number, start: Start): number[] | undefined {
  if (measure.kind === "difference") {
    const [of, minus] = [measure.of, measure.minus].map((one) => termsOf(facts, one, t, start));
    return of && minus && [...of, ...minus.map((term) => -term)];
  }
  if (measure.kind === "aggregate" && measure.function === "sum") {
    const values = valuesOf(facts, measure.of.event, measure.property, occurrencesOf(facts, measure, t, start));
    return values.filter((value) => typeof value === "number");
  }
  const value = measured(facts, measure, t, start);
  return typeof value === "number" ? [value] : undefined;
}

/** The measured number, or the value of `latest`; undefined if it is absent. */
export function measured(facts: Facts, measure: Measure, t: number, start: Start = "ever"): Json | undefined {
  if (measure.kind === "trait") return read(facts.traits, measure.trait, facts.snapshot.traits[measure.trait]);
  if (measure.kind === "daysSince") {
    const last = measure.which === "last";
    const occurrence = last ? counted(facts, measure, t, start).at(-1) : selected(facts, measure.of)[0];
    return occurrence && Math.floor((t - occurrence.occurredAt) / DAY);
  }
  if (measure.kind === "difference") {
    const terms = termsOf(facts, measure, t, start);
    return terms && exactQuotient(terms, 1);
  }
  if (measure.kind === "ratio") {
    const [of, per] = [measure.of, measure.per].map((one) => measured(facts, one, t, start));
    return typeof of === "number" && typeof per === "number" && per !== 0 ? of / per + 0 : undefined;
  }
  const occurrences = occurrencesOf(facts, measure, t, start);
  if (measure.kind === "count") return occurrences.length;
  const values = valuesOf(facts, measure.of.event, measure.property, occurrences);
  if (measure.kind === "distinct") {
    return new Set(values.filter((value) => ["string", "number", "boolean"].includes(typeof value))).size;
  }
  if (measure.kind === "latest") return values.at(-1);
  const numbers = values.filter((value) => typeof value === "number");
  if (measure.function === "sum") return exactQuotient(numbers, 1);
  if (numbers.length === 0) return undefined;
  if (measure.function === "avg") return exactQuotient(numbers, numbers.length);
  return measure.function === "min" ? Math.min(...numbers) : Math.max(...numbers);
}

/** 0 to 100, not rounded. */
export function scored(facts: Facts, { score, absent }: HealthComponent, t: number): number | null {
  const ofNothing = absent === "skip" ? null : (absent ?? 0);
  if (score.kind === "map") {
    const value = facts.traits[score.trait];
    if (value === undefined) return ofNothing;
    return typeof value === "string" && Object.hasOwn(score.values, value) ? score.values[value]! : 0;
  }
  const value = measured(facts, score.of, t);
  if (typeof value !== "number") return ofNothing;
  if (score.kind === "scale") {
    return Math.min(100, Math.max(0, ((value - score.from) / (score.to - score.from)) * 100));
  }
  return (score.steps.find(([limit]) => value <= limit) ?? [0, score.otherwise])[1];
}
