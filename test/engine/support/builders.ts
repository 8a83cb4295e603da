import { hashSnapshot } from "../../../src/model/snapshot/canonical.js";
import {
  EMPTY_SNAPSHOT,
  type Action,
  type CalculatedMeasure,
  type Condition,
  type EventSelector,
  type Health,
  type Journey,
  type JourneyStatus,
  type JourneyStep,
  type LifecycleState,
  type Measure,
  type NumberAggregate,
  type OccurrenceScope,
  type PropertyCondition,
  type Rule,
  type Scalar,
  type Score,
  type Signal,
  type Snapshot,
  type Trigger,
} from "../../../src/model/snapshot/types.js";
import { compileModel, type Json, type Model, type TrackOperation } from "../../../src/engine/index.js";

type Of<Kind extends Condition["kind"]> = Extract<Condition, { kind: Kind }>;
type Order = Of<"count">["operator"];
type Compare = Of<"trait">["operator"];

/** A window or a start, and a filter. */
export type Scope = OccurrenceScope & { where?: PropertyCondition };

/** The occurrences of an event, all or those that a filter selects. */
export const of = (event: string, where?: PropertyCondition): EventSelector =>
  where === undefined ? { event } : { event, where };

const scoped = (event: string, { where, ...scope }: Scope) => ({ of: of(event, where), ...scope });

export const all = (...conditions: Condition[]): Condition => ({ kind: "all", conditions });
export const any = (...conditions: Condition[]): Condition => ({ kind: "any", conditions });
export const not = (condition: Condition): Condition => ({ kind: "not", condition });

export const count = (event: string, operator: Order, value: number, scope: Scope = {}): Of<"count"> => {
  return { kind: "count", operator, value, ...scoped(event, scope) };
};
export const happened = (event: string, scope: Scope = {}): Of<"count"> => count(event, "gte", 1, scope);
/** `[event, property]`. */
type Path = [event: string, property: string];
export const aggregate = (
  name: NumberAggregate,
  [event, property]: Path,
  operator: Order,
  value: number,
  scope: Scope = {},
): Of<"aggregate"> => ({ kind: "aggregate", function: name, property, operator, value, ...scoped(event, scope) });
export const distinct = (
  [event, property]: Path,
  operator: Order,
  value: number,
  scope: Scope = {},
): Of<"distinct"> => ({ kind: "distinct", property, operator, value, ...scoped(event, scope) });
export const daysSince = (which: "first" | "last", event: string, operator: Order, value: number): Of<"daysSince"> => ({
  kind: "daysSince",
  which,
  of: of(event),
  operator,
  value,
});
export const sequence = (first: string, then: string, within: string): Of<"sequence"> => {
  return { kind: "sequence", first: of(first), then: of(then), within };
};

/** The number of an event's occurrences, or the sum of a property of theirs, as an operand of other measures. */
export const number = (path: string | Path, scope: Scope & { previous?: true } = {}): Measure => {
  if (typeof path === "string") return { kind: "count", ...scoped(path, scope) };
  return { kind: "aggregate", function: "sum", property: path[1], ...scoped(path[0], scope) };
};
export const traitNumber = (trait: string): Measure => ({ kind: "trait", trait });
export const per = (of: Measure, per: Measure): CalculatedMeasure => ({ kind: "ratio", of, per });
export const minus = (of: Measure, minus: Measure): CalculatedMeasure => ({ kind: "difference", of, minus });
export const compared = (measure: CalculatedMeasure, operator: Order, value: number): Condition => {
  return { ...measure, operator, value };
};

export const trait = (name: string, operator: Compare, value: Scalar | Scalar[]): Of<"trait"> => {
  return { kind: "trait", trait: name, operator, value };
};
export const traitExists = (name: string): Condition => ({ kind: "traitExists", trait: name });
export const dateWithin = (trait: string, within: string): Condition => ({ kind: "traitDateWithin", trait, within });

export const inactiveFor = (duration: string): Condition => ({ kind: "inactiveFor", duration });
export const activeWithin = (duration: string): Condition => ({ kind: "activeWithin", duration });
export const inState = (atLeast: string): Condition => ({ kind: "inState", atLeast });
export const inLifecycle = (...states: string[]): Condition => ({ kind: "lifecycle", states });
export const inSegment = (segment: string): Condition => ({ kind: "segment", segment });
export const journeyIs = (journey: string, ...statuses: JourneyStatus[]): Condition => {
  return { kind: "journey", journey, statuses };
};
const stepIs = (is: "current" | "completed") => {
  return (journey: string, step: string): Condition => ({ kind: "journeyStep", journey, step, is });
};
export const atStep = stepIs("current");
export const stepCompleted = stepIs("completed");
export const healthIs = (operator: Order, value: number, component?: string): Of<"health"> => ({
  kind: "health",
  operator,
  value,
  ...(component !== undefined && { component }),
});
export const inBand = (...bands: string[]): Condition => ({ kind: "healthBand", bands });

export const property = (name: string, operator: Compare, value: Scalar | Scalar[]): PropertyCondition => {
  return { kind: "compare", property: name, operator, value };
};

/** A rule triggered by an event, given by its name, or by another trigger. */
export const rule = (trigger: string | Trigger, then: Action, more: Partial<Rule> = {}): Omit<Rule, "id"> => ({
  on: typeof trigger === "string" ? { kind: "event", of: of(trigger) } : trigger,
  then,
  ...more,
});
export const emit = (type: string): Action => ({ kind: "emit", type });
export const addTo = (segment: string): Action => ({ kind: "addToSegment", segment });
export const removeFrom = (segment: string): Action => ({ kind: "removeFromSegment", segment });
export const raise = (signal: string): Action => ({ kind: "raiseSignal", signal });
export const clear = (signal: string): Action => ({ kind: "clearSignal", signal });

/** From 0 to 100 by how often an event happened. */
export const counted = (event: string, to: number, { from = 0, ...scope }: Scope & { from?: number } = {}): Score => ({
  kind: "scale",
  of: { kind: "count", ...scoped(event, scope) },
  from,
  to,
});
/** From 0 to 100 by the sum of a property. */
export const summed = ([event, property]: Path, to: number, scope: Scope = {}): Score => ({
  kind: "scale",
  of: { kind: "aggregate", function: "sum", property, ...scoped(event, scope) },
  from: 0,
  to,
});
/** By the number of whole days since an event last happened: `[up to, score]`, and 0 beyond. */
export const lately = (event: string, ...steps: [upTo: number, score: number][]): Score => {
  return { kind: "steps", of: { kind: "daysSince", which: "last", of: of(event) }, steps, otherwise: 0 };
};
/** Health with components, of weight 1 unless given, and bands by their lower limits. */
export const healthOf = (
  components: Record<string, Score | [weight: number, Score]>,
  bands: Record<string, number>,
): Health => ({
  components: Object.entries(components).map(([id, one]) => {
    const [weight, score] = Array.isArray(one) ? one : [1, one];
    return { id, weight, score };
  }),
  bands: Object.entries(bands).map(([id, from]) => ({ id, from })),
});

/** A step, `[id, when]`, or `[id, when, "previousStep"]` in a funnel. */
export type StepParts = [id: string, when: Condition, since?: "previousStep"];

/** A journey without its id, and with its steps as tuples. */
export type JourneyParts = Omit<Journey, "id" | "steps"> & { steps: StepParts[] };

/** The parts of a model. A lifecycle is `{ state: [[to, when], …] | "terminal" }`, whose first state is the initial one. */
export interface Parts {
  states?: Record<string, [to: string, when: Condition][] | "terminal">;
  journeys?: Record<string, JourneyParts>;
  segments?: Record<string, Condition | null>;
  health?: Health;
  rules?: Record<string, Omit<Rule, "id">>;
  signals?: Record<string, Omit<Signal, "id" | "severity"> & { severity?: Signal["severity"] }>;
  events?: Snapshot["events"];
  traits?: Snapshot["traits"];
}

function stateOf([name, to]: [string, [to: string, when: Condition][] | "terminal"]): LifecycleState {
  if (to === "terminal") return { name, terminal: true, transitions: [] };
  return { name, transitions: to.map(([to, when]) => ({ to, when })) };
}

/** A snapshot from its parts; omitted ones are empty. */
export function snapshotOf(parts: Parts): Snapshot {
  const states = Object.entries(parts.states ?? {});
  return {
    ...EMPTY_SNAPSHOT,
    events: parts.events ?? {},
    traits: parts.traits ?? {},
    lifecycle: states.length === 0 ? null : { initial: states[0]![0], states: states.map(stateOf) },
    journeys: Object.entries(parts.journeys ?? {}).map(([id, { steps, ...journey }]) => ({
      id,
      ...journey,
      steps: steps.map(([step, when, since]): JourneyStep => ({ id: step, when, ...(since && { since }) })),
    })),
    segments: Object.entries(parts.segments ?? {}).map(([id, when]) => (when === null ? { id } : { id, when })),
    health: parts.health ?? null,
    rules: Object.entries(parts.rules ?? {}).map(([id, rule]) => ({ id, ...rule })),
    signals: Object.entries(parts.signals ?? {}).map(([id, signal]) => ({ id, severity: "warning", ...signal })),
  };
}

export function modelOf(parts: Parts): Model {
  return compile(snapshotOf(parts));
}

export function compile(snapshot: Snapshot): Model {
  return compileModel(snapshot, hashSnapshot(snapshot));
}

/** An event that is accepted when it occurs, at this instant in milliseconds. */
export function seen(seq: number, occurredAt: number, event = "seen", properties: Properties = {}): TrackOperation {
  return { kind: "track", seq, eventId: `evt_${seq}`, event, properties, occurredAt, acceptedAt: occurredAt };
}

/** An instant of 2026 in UTC from `MM-DD hh:mm[:ss[.mmm]]` or `MM-DD`. */
export function at(text: string): number {
  const [date, time = "00:00"] = text.split(" ");
  const instant = Date.parse(`2026-${date}T${time.length === 5 ? `${time}:00` : time}Z`);
  if (Number.isNaN(instant)) throw new Error(`no instant: ${text}`);
  return instant;
}

/** The shortest text that `at` reads back. */
export function show(instant: number | null): string {
  if (instant === null) return "—";
  const [date, time] = new Date(instant).toISOString().slice(5, -1).split("T") as [string, string];
  return `${date} ${time.replace(/\.000$/, "").replace(/^(\d\d:\d\d):00$/, "$1")}`;
}

export type Properties = Record<string, Json>;
