import { canonicalJson } from "../../../model/snapshot/canonical.js";
import type { JobDifference } from "../../../http/admin/answers.js";
import { gained, lost } from "../../../words/recompute.js";

/** Example customers per change: the first, which are those that change most. */
const EXAMPLES = 5;

/** A number of customers, with some of them as examples. */
export interface ImpactGroup {
  customers: number;
  examples: string[];
}

type SegmentImpact = { segmentId: string; entered: ImpactGroup; exited: ImpactGroup };
type LifecycleImpact = ImpactGroup & { from: string | null; to: string | null };
type JourneyImpact = ImpactGroup & { journeyId: string };
/** Customers whose raised signal would get another severity or message. */
type SignalImpact = ImpactGroup & { signalId: string };
/** `runs` are counted by their result. */
type RuleImpact = ImpactGroup & { ruleId: string; runs: Record<string, number> };
/** Emissions of a type; those of signals are counted for each signal. */
type EmissionImpact = ImpactGroup & { eventType: string; signal?: string; emissions: number };
export type HealthExample = { customerId: string; before: number | null; after: number | null };

/** How many customers' overall scores rise, fall, stay while components or bands change, appear, and disappear. */
export type HealthImpact = Record<"rises" | "falls" | "shifts" | "gained" | "lost", number> & {
  examples: HealthExample[];
};

/** A summary of what a model or a recompute changes: counts and a few example customers, of bounded size. */
export interface ImpactDocument {
  segments: SegmentImpact[];
  lifecycle: LifecycleImpact[];
  health: HealthImpact;
  journeys: JourneyImpact[];
  signals: SignalImpact[];
  rules: RuleImpact[];
  emissions: EmissionImpact[];
  /** Runs of rules and emissions that are only counted, of customers with too many to list. */
  rulesOmitted: number;
  emissionsOmitted: number;
}

/** Builds an `ImpactDocument` customer by customer. */
export class Impact {
  readonly #segments = new Map<string, SegmentImpact>();
  readonly #lifecycle = new Map<string, LifecycleImpact>();
  readonly #journeys = new Map<string, JourneyImpact>();
  readonly #signals = new Map<string, SignalImpact>();
  readonly #rules = new Map<string, RuleImpact>();
  readonly #emissions = new Map<string, EmissionImpact>();
  readonly #health: HealthImpact = { rises: 0, falls: 0, shifts: 0, gained: 0, lost: 0, examples: [] };
  #rulesOmitted = 0;
  #emissionsOmitted = 0;

  add(difference: JobDifference): void {
    const { customerId, lifecycle, rules, emissions, rulesOmitted = 0, emissionsOmitted = 0 } = difference;
    const segment = (segmentId: string) =>
      of(this.#segments, segmentId, () => ({ segmentId, entered: none(), exited: none() }));
    for (const id of gained(difference.segments)) count(segment(id).entered, customerId);
    for (const id of lost(difference.segments)) count(segment(id).exited, customerId);
    const { before: from, after: to } = lifecycle;
    if (from !== to) {
      const move = of(this.#lifecycle, JSON.stringify([from, to]), () => ({ from, to, ...none() }));
      count(move, customerId);
    }
    for (const id of journeysChanged(difference)) {
      const journey = of(this.#journeys, id, () => ({ journeyId: id, ...none() }));
      count(journey, customerId);
    }
    for (const id of difference.signals?.changed ?? [])
      count(
        of(this.#signals, id, () => ({ signalId: id, ...none() })),
        customerId,
      );
    for (const { ruleId, result } of rules) {
      const { runs } = of(this.#rules, ruleId, () => ({ ruleId, runs: {}, ...none() }));
      runs[result] = (runs[result] ?? 0) + 1;
    }
    for (const id of new Set(rules.map(({ ruleId }) => ruleId))) count(this.#rules.get(id)!, customerId);
    const emitted = new Set<EmissionImpact>();
    for (const { eventType, source, metadata } of emissions) {
      const type = source === "signal" ? { eventType, signal: String(metadata["signal"]) } : { eventType };
      const group = of(this.#emissions, JSON.stringify(type), () => ({ ...type, emissions: 0, ...none() }));
      group.emissions += 1;
      emitted.add(group);
    }
    for (const group of emitted) count(group, customerId);
    this.#addHealth(difference);
    this.#rulesOmitted += rulesOmitted;
    this.#emissionsOmitted += emissionsOmitted;
  }

  get document(): ImpactDocument {
    const customers = (group: ImpactGroup) => group.customers;
    return {
      segments: sorted(this.#segments, (segment) => segment.entered.customers + segment.exited.customers),
      lifecycle: sorted(this.#lifecycle, customers),
      health: this.#health,
      journeys: sorted(this.#journeys, customers),
      signals: sorted(this.#signals, customers),
      rules: sorted(this.#rules, ({ runs }) => Object.values(runs).reduce((sum, some) => sum + some, 0)),
      emissions: sorted(this.#emissions, ({ emissions }) => emissions),
      rulesOmitted: this.#rulesOmitted,
      emissionsOmitted: this.#emissionsOmitted,
    };
  }

  #addHealth(difference: JobDifference): void {
    if (!healthChanged(difference)) return;
    const [before, after] = [difference.health.before?.overall ?? null, difference.health.after?.overall ?? null];
    const health = this.#health;
    if (before === null) health.gained += 1;
    else if (after === null) health.lost += 1;
    else health[after > before ? "rises" : after < before ? "falls" : "shifts"] += 1;
    if (health.examples.length < EXAMPLES) health.examples.push({ customerId: difference.customerId, before, after });
  }
}

/** The journeys whose progress differs afterwards. */
export function journeysChanged({ journeys: { before, after } }: JobDifference): string[] {
  // The order of steps, which a model may change, is no difference.
  const text = (progress: readonly { journeyId: string }[], id: string) =>
    canonicalJson(progress.find(({ journeyId }) => journeyId === id) ?? null);
  const ids = new Set([...before, ...after].map(({ journeyId }) => journeyId));
  return [...ids].filter((id) => text(before, id) !== text(after, id));
}

/** The components of a health score that differ afterwards. */
export function componentsChanged({ health: { before, after } }: JobDifference): string[] {
  const ids = new Set([...Object.keys(before?.components ?? {}), ...Object.keys(after?.components ?? {})]);
  return [...ids].filter((id) => before?.components[id] !== after?.components[id]);
}

/** Whether a customer's score, its band or one of its components differs afterwards. */
export function healthChanged(difference: JobDifference): boolean {
  const { before, after } = difference.health;
  if (before === null || after === null) return before !== after;
  return before.overall !== after.overall || before.band !== after.band || componentsChanged(difference).length > 0;
}

function none(): ImpactGroup {
  return { customers: 0, examples: [] };
}

function count(group: ImpactGroup, customerId: string): void {
  group.customers += 1;
  if (group.examples.length < EXAMPLES) group.examples.push(customerId);
}

function of<Value>(map: Map<string, Value>, key: string, make: () => NoInfer<Value>): Value {
  const value = map.get(key) ?? make();
  map.set(key, value);
  return value;
}

/** The largest first, then by key. */
function sorted<Value>(map: ReadonlyMap<string, Value>, size: (value: Value) => number): Value[] {
  return [...map].sort(([aKey, a], [bKey, b]) => size(b) - size(a) || (aKey < bKey ? -1 : 1)).map(([, value]) => value);
}
