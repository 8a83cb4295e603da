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
  /** Positions by id. */
  segmentIndex: ReadonlyMap<string, number>;
  journeyIndex: ReadonlyMap<string, number>;
  signalIndex: ReadonlyMap<string, number>;
}

/** Where one condition is compiled: what it reads is added to `reads`. */
export interface ConditionContext extends ModelContext {
  reads: Reads;
  /** The condition or measure itself. */
  source: object;
  /** From when on what says nothing itself counts: in a step of a journey. */
  boundary: BoundaryOf | undefined;
  /** From when on anything counts, whatever it says itself: in the start of a journey that may run again. */
  least: BoundaryOf | undefined;
}

export function compileScope({ within, since }: OccurrenceScope, context: ConditionContext): CompiledScope {
  return {
    within: within === undefined ? Infinity : parseDuration(within),
    boundary: since === undefined ? context.boundary : notBefore(compileSince(since, context), context),
  };
}

/** The later one of two boundaries: what counts since that counts since both. */
function notBefore(boundary: BoundaryOf, { least, registry }: ConditionContext): BoundaryOf {
  if (least === undefined) return boundary;
  registry.hasLaterBoundaries = true;
  return (customer) => {
    const [one, other] = [least(customer), boundary(customer)];
    return isAfter(one, other) ? one : other;
  };
}

/** One for all conditions, so that they share what is remembered. */
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

/** A stream of the model that remembers at least so many occurrences, entered in what is read. */
export function addStream({ registry, reads, source }: ConditionContext, of: EventSelector, capacity: number): Stream {
  const stream = registry.stream(of, source);
  stream.capacity = Math.max(stream.capacity, capacity);
  reads.streams.add(stream);
  return stream;
}

/** A key for what is computed of a property. */
export function keyOf(kind: string, { event, where }: EventSelector, property: string): Json {
  return [kind, event, where ?? null, property];
}

/**
 * An aggregate of the model, entered in what is read, and how to get at a customer's.
 *
 * @param of what is computed, of what: what asks the same has the same
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

/** What is made of a number, such as whether it reaches a limit, or a score. */
export interface Reading<V = unknown> {
  of: (value: number | undefined) => V;
  /** Between two neighbouring limits, and outside them all, `of` is constant or strictly monotone. */
  limits: readonly number[];
}

/** And what a search needs to know of it. */
export interface SearchedReading<V = boolean | number | null | undefined> extends Reading<V> {
  /** Whether no two numbers read alike that another one between them does not. */
  isMonotone: boolean;
  /** The numbers around one that read as it does; null where these are too few to be worth knowing. */
  regionOf(value: number): Region | null;
}

/** How many of something must be told apart so that a reading knows enough. */
export function capacityFor({ limits }: { limits: readonly number[] }): number {
  return Math.max(0, ...limits.map((limit) => Math.floor(limit) + 1));
}

export interface CompiledMeasure {
  /** The number at the customer's clock; undefined where it is absent. Beyond the limits of all readings it may stop growing. */
  value: (customer: OpenCustomer) => number | undefined;
  /** Whether the value stopped growing, and there may be more. */
  isBounded?: (customer: OpenCustomer) => boolean;
  nextChange?: NextChange | undefined;
  /** Of different values: when that of an event last occurred; -Infinity for never, Infinity without a value, undefined where that is not known. */
  lastOf?: (customer: OpenCustomer, event: HistoryEvent) => number | undefined;
  /** What it is computed of, where it is a ratio or a difference. */
  operands?: (customer: OpenCustomer) => OperandValue[] | undefined;
}

/** A number that a ratio or a difference is computed of, as an explanation shows it. */
export type OperandValue = {
  /** `count of "login" within 30d`. */
  text: string;
  /** null where it is absent; `1000 or more` where memory is bounded. */
  actual: Json;
  operands?: OperandValue[];
};

/** A measure as an explanation shows it: `3`, or `3 or more`. */
export function shownMeasure({ value, isBounded }: CompiledMeasure, customer: OpenCustomer): Json {
  const number = value(customer);
  if (number === undefined) return null;
  return isBounded?.(customer) ? `${number} or more` : number;
}
