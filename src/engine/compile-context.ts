import { parseDuration } from "../model/snapshot/duration.js";
import type { EventSelector, OccurrenceScope, Since, Snapshot } from "../model/snapshot/types.js";
import type { CompiledScope, OccurrenceSelection } from "./aggregates/scope.js";
import type { Region } from "./measures/margins.js";
import type { AggregateRegistry, ScopedAggregate } from "./model/registry.js";
import type {
  Aggregate,
  BoundaryOf,
  NextChange,
  OpenCustomer,
  Reads,
  Stream,
  WorkingAggregate,
} from "./open-customer.js";
import { isAfter, NOTHING_COUNTS } from "./state/boundary.js";
import type { FromStream } from "./state/layout.js";
import type { AggregateMemory, HistoryEvent, Json } from "./state/types.js";

export const LIFECYCLE_ITEM = "lifecycle";
export const HEALTH_ITEM = "health";
export const segmentItem = (id: string): string => `segment ${id}`;
export const journeyItem = (id: string): string => `journey ${id}`;
export const signalItem = (id: string): string => `signal ${id}`;
export const ruleItem = (id: string): string => `rule ${id}`;

/** The model that conditions and rules are compiled for. */
export interface ModelContext {
  snapshot: Snapshot;
  registry: AggregateRegistry;
  /** Indexes by id. */
  segmentIndex: ReadonlyMap<string, number>;
  journeyIndex: ReadonlyMap<string, number>;
  signalIndex: ReadonlyMap<string, number>;
}

/** The context in which one condition is compiled. What the condition reads is added to `reads`. */
export interface ConditionContext extends ModelContext {
  reads: Reads;
  /** The condition or measure itself. */
  source: object;
  /** The boundary for conditions without their own `since`: set in a step of a journey. */
  boundary: BoundaryOf | undefined;
  /** A boundary before which nothing counts, whatever `since` says: set in the start condition of a repeating journey. */
  least: BoundaryOf | undefined;
}

export function compileScope({ within, since }: OccurrenceScope, context: ConditionContext): CompiledScope {
  return {
    within: within === undefined ? Infinity : parseDuration(within),
    boundary: since === undefined ? context.boundary : notBefore(compileSince(since, context), context),
  };
}

/** The later of `boundary` and `least`: what counts since that counts since both. */
function notBefore(boundary: BoundaryOf, { least, registry }: ConditionContext): BoundaryOf {
  if (least === undefined) return boundary;
  registry.hasLaterBoundaries = true;
  return (customer) => {
    const [one, other] = [least(customer), boundary(customer)];
    return isAfter(one, other) ? one : other;
  };
}

/** A single function for all conditions, so that they share memory. */
const stateBoundary: BoundaryOf = (customer) => customer.stateBoundary;

function compileSince(since: Since, { reads, registry, journeyIndex }: ConditionContext): BoundaryOf {
  if (since === "state") {
    reads.items.add(LIFECYCLE_ITEM);
    return stateBoundary;
  }
  reads.items.add(journeyItem(since.journey));
  const index = journeyIndex.get(since.journey);
  return index === undefined ? () => NOTHING_COUNTS : registry.journeyStart(index);
}

export function selectionOf<T>(
  of: EventSelector,
  read: OccurrenceSelection<T>["read"],
  { registry }: ConditionContext,
): OccurrenceSelection<T> {
  return { event: of.event, where: registry.where(of), read };
}

/** A stream of the model that remembers at least `capacity` occurrences. It is added to `reads`. */
export function addStream({ registry, reads, source }: ConditionContext, of: EventSelector, capacity: number): Stream {
  const stream = registry.stream(of, source);
  stream.capacity = Math.max(stream.capacity, capacity);
  reads.streams.add(stream);
  return stream;
}

/** A key for something computed from a property. */
export function keyOf(kind: string, { event, where }: EventSelector, property: string): Json {
  return [kind, event, where ?? null, property];
}

/**
 * An aggregate of the model, which is added to `reads`, and a function that returns a customer's.
 *
 * @param of a key for what is computed from which events: aggregates of the same key and scope are the same
 */
export function addAggregate<Kind extends Aggregate["kind"], Working extends WorkingAggregate>(
  { registry, reads, source }: ConditionContext,
  kind: Kind,
  of: Json,
  scope: CompiledScope,
  events: readonly string[],
  open: (memory: Extract<AggregateMemory, { kind: Kind }> | undefined, aggregate: Aggregate) => Working,
  fromStream: FromStream | null = null,
): { scoped: ScopedAggregate; of: (customer: OpenCustomer) => Working } {
  const opened = open as Parameters<typeof registry.aggregate>[4];
  const scoped = registry.aggregate(kind, of, scope, events, opened, source, fromStream);
  const { aggregate } = scoped;
  reads.aggregates.add(aggregate);
  return { scoped, of: (customer) => customer.aggregates[aggregate.index] as Working };
}

/** What a number is mapped to, such as whether it reaches a limit, or a score. */
export interface Reading<V = unknown> {
  of: (value: number | undefined) => V;
  /** Between two neighboring limits, and outside them all, `of` is constant or strictly monotone. */
  limits: readonly number[];
}

/** A reading with what a search for its next change needs. */
export interface SearchedReading<V = boolean | number | null | undefined> extends Reading<V> {
  /** Whether two numbers with the same reading share it with all numbers between them. */
  isMonotone: boolean;
  /** The range around a number in which all numbers read the same; null if it is too small to be useful. */
  regionOf(value: number): Region | null;
}

/** How many occurrences or values must be distinguished for a reading to be correct. */
export function capacityFor({ limits }: { limits: readonly number[] }): number {
  return Math.max(0, ...limits.map((limit) => Math.floor(limit) + 1));
}

export interface CompiledMeasure {
  /** The number at the customer's clock; undefined if absent. Beyond the limits of all readings it may stop growing. */
  value: (customer: OpenCustomer) => number | undefined;
  /** Whether the value stopped growing, so that the true number may be greater. */
  isBounded?: (customer: OpenCustomer) => boolean;
  nextChange?: NextChange | undefined;
  /** For distinct values: when the value of an event last occurred; -Infinity for never, Infinity without a value, undefined if unknown. */
  lastOf?: (customer: OpenCustomer, event: HistoryEvent) => number | undefined;
  /** What it is computed from, if it is a ratio or a difference. */
  operands?: (customer: OpenCustomer) => OperandValue[] | undefined;
}

/** A number that a ratio or a difference is computed from, as an explanation shows it. */
export type OperandValue = {
  /** `count of "login" within 30d`. */
  text: string;
  /** null if absent; `1000 or more` if memory is bounded. */
  actual: Json;
  operands?: OperandValue[];
};

/** A measure as an explanation shows it: `3`, or `3 or more`. */
export function shownMeasure({ value, isBounded }: CompiledMeasure, customer: OpenCustomer): Json {
  const number = value(customer);
  if (number === undefined) return null;
  return isBounded?.(customer) ? `${number} or more` : number;
}
