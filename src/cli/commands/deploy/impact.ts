import type { JobDifference } from "../../client/answers.js";

/** How many customers are named of each thing that changes; the most telling ones, as they come first. */
const EXAMPLES = 5;

/** So many customers, with some of them. */
export interface ImpactGroup {
  customers: number;
  examples: string[];
}

export interface SegmentImpact {
  segmentId: string;
  entered: ImpactGroup;
  exited: ImpactGroup;
}

export interface LifecycleImpact extends ImpactGroup {
  from: string | null;
  to: string | null;
}

export interface HealthExample {
  customerId: string;
  before: number | null;
  after: number | null;
}

export interface HealthImpact {
  /** Whose overall score rises, falls, stays while components change, comes to be, and ceases to be. */
  rises: number;
  falls: number;
  shifts: number;
  gained: number;
  lost: number;
  examples: HealthExample[];
}

export interface EmissionImpact extends ImpactGroup {
  eventType: string;
  emissions: number;
}

export interface RuleImpact extends ImpactGroup {
  ruleId: string;
  /** Runs by their result. */
  runs: Record<string, number>;
}

/** What a model or a recompute changes, gathered customer by customer: it holds counts and a few names, however many there are. */
export interface ImpactDocument {
  segments: SegmentImpact[];
  lifecycle: LifecycleImpact[];
  health: HealthImpact;
  journeys: (ImpactGroup & { journeyId: string })[];
  rules: RuleImpact[];
  emissions: EmissionImpact[];
  /** Runs of rules and emissions of customers with too many to tell them apart. */
  rulesOmitted: number;
  emissionsOmitted: number;
}

/** Gathers an `ImpactDocument`. */
export class Impact {
  readonly #segments = new Map<string, SegmentImpact>();
  readonly #lifecycle = new Map<string, LifecycleImpact>();
  readonly #journeys = new Map<string, ImpactGroup & { journeyId: string }>();
  readonly #rules = new Map<string, RuleImpact>();
  readonly #emissions = new Map<string, EmissionImpact>();
  readonly #health: HealthImpact = { rises: 0, falls: 0, shifts: 0, gained: 0, lost: 0, examples: [] };
  #rulesOmitted = 0;
  #emissionsOmitted = 0;

  add(difference: JobDifference): void {
    const { customerId, rulesOmitted = 0, emissionsOmitted = 0 } = difference;
    for (const id of entered(difference)) count(this.#segment(id).entered, customerId);
    for (const id of exited(difference)) count(this.#segment(id).exited, customerId);
    this.#addLifecycle(difference);
    this.#addHealth(difference);
    for (const id of journeysChanged(difference)) {
      count(
        of(this.#journeys, id, () => ({ journeyId: id, ...none() })),
        customerId,
      );
    }
    this.#addRules(difference);
    this.#addEmissions(difference);
    this.#rulesOmitted += rulesOmitted;
    this.#emissionsOmitted += emissionsOmitted;
  }

  /** What was gathered so far; of each kind the largest first. */
  get document(): ImpactDocument {
    return {
      segments: sorted(this.#segments, (segment) => segment.entered.customers + segment.exited.customers),
      lifecycle: sorted(this.#lifecycle, ({ customers }) => customers),
      health: this.#health,
      journeys: sorted(this.#journeys, ({ customers }) => customers),
      rules: sorted(this.#rules, ({ runs }) => Object.values(runs).reduce((sum, some) => sum + some, 0)),
      emissions: sorted(this.#emissions, ({ emissions }) => emissions),
      rulesOmitted: this.#rulesOmitted,
      emissionsOmitted: this.#emissionsOmitted,
    };
  }

  #segment(segmentId: string): SegmentImpact {
    return of(this.#segments, segmentId, () => ({ segmentId, entered: none(), exited: none() }));
  }

  #addLifecycle({ customerId, lifecycle: { before, after } }: JobDifference): void {
    if (before === after) return;
    const move = of(this.#lifecycle, JSON.stringify([before, after]), () => ({ from: before, to: after, ...none() }));
    count(move, customerId);
  }

  #addHealth(difference: JobDifference): void {
    if (!healthChanged(difference)) return;
    const [before, after] = [difference.health.before?.overall ?? null, difference.health.after?.overall ?? null];
    const health = this.#health;
    if (before === null) health.gained += 1;
    else if (after === null) health.lost += 1;
    else if (after > before) health.rises += 1;
    else if (after < before) health.falls += 1;
    else health.shifts += 1;
    if (health.examples.length < EXAMPLES) health.examples.push({ customerId: difference.customerId, before, after });
  }

  #addRules({ customerId, rules }: JobDifference): void {
    for (const { ruleId, result } of rules) {
      const rule = of(this.#rules, ruleId, (): RuleImpact => ({ ruleId, runs: {}, ...none() }));
      rule.runs[result] = (rule.runs[result] ?? 0) + 1;
    }
    for (const id of new Set(rules.map(({ ruleId }) => ruleId))) count(this.#rules.get(id)!, customerId);
  }

  #addEmissions({ customerId, emissions }: JobDifference): void {
    for (const { eventType } of emissions) {
      of(this.#emissions, eventType, () => ({ eventType, emissions: 0, ...none() })).emissions += 1;
    }
    for (const type of new Set(emissions.map(({ eventType }) => eventType))) {
      count(this.#emissions.get(type)!, customerId);
    }
  }
}

/** The segments that a customer is in afterwards, and was not before. */
export function entered({ segments: { before, after } }: JobDifference): string[] {
  return after.filter((id) => !before.includes(id));
}

/** The segments that a customer was in before, and is not any more. */
export function exited({ segments: { before, after } }: JobDifference): string[] {
  return before.filter((id) => !after.includes(id));
}

/** The journeys whose progress is another one afterwards. */
export function journeysChanged({ journeys: { before, after } }: JobDifference): string[] {
  const text = (progress: readonly { journeyId: string }[], id: string) =>
    JSON.stringify(progress.find(({ journeyId }) => journeyId === id));
  const ids = new Set([...before, ...after].map(({ journeyId }) => journeyId));
  return [...ids].filter((id) => text(before, id) !== text(after, id));
}

export function healthChanged({ health: { before, after } }: JobDifference): boolean {
  if (before === null || after === null) return before !== after;
  if (before.overall !== after.overall) return true;
  const ids = new Set([...Object.keys(before.components), ...Object.keys(after.components)]);
  return [...ids].some((id) => before.components[id] !== after.components[id]);
}

function none(): ImpactGroup {
  return { customers: 0, examples: [] };
}

function count(group: ImpactGroup, customerId: string): void {
  group.customers += 1;
  if (group.examples.length < EXAMPLES) group.examples.push(customerId);
}

/** The entry of a key, made where there is none. */
function of<Value>(map: Map<string, Value>, key: string, make: () => NoInfer<Value>): Value {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}

/** The largest first, then by key. */
function sorted<Value>(map: ReadonlyMap<string, Value>, size: (value: Value) => number): Value[] {
  return [...map].sort(([aKey, a], [bKey, b]) => size(b) - size(a) || (aKey < bKey ? -1 : 1)).map(([, value]) => value);
}
