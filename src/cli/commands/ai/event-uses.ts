import type {
  Condition,
  EventSelector,
  Measure,
  PropertyCondition,
  Score,
  Snapshot,
} from "../../../model/snapshot/types.js";

/** The parts of a model that read something. */
export type ReadingPart = "lifecycle" | "journey" | "segment" | "health" | "rule" | "signal";

/** A place of the model that reads an event. */
export interface EventUse {
  part: ReadingPart;
  /**
   * What is called so there: `trial → activated` of the lifecycle, `onboarding, invite_team` or `onboarding, start` of a journey, a health
   * component, or the id of a segment, a rule or a signal.
   */
  id: string;
  /** Of the event, those that are read there, by name. */
  properties: string[];
}

/** A place of the model that reads a trait; `id` as of an event's use. */
export type TraitUse = Pick<EventUse, "part" | "id">;

/**
 * Where the model reads each declared event, in the order of the model: lifecycle, journeys, segments, health, rules, signals. An event
 * that is read twice in one place is there once. Events that nothing reads have an empty list. `inactiveFor` and `activeWithin`, which any
 * event tells, are no use of a certain one.
 */
export function eventUses(snapshot: Snapshot): ReadonlyMap<string, readonly EventUse[]> {
  const uses = new Map<string, EventUse[]>(Object.keys(snapshot.events).map((name) => [name, []]));
  for (const { part, id, reads } of places(snapshot)) {
    for (const [event, properties] of reads.events) {
      uses.get(event)?.push({ part, id, properties: [...properties].sort() });
    }
  }
  return uses;
}

/** Where the model reads each declared trait, as `eventUses` does events. A rule on `traitsChanged` is a use of all of them. */
export function traitUses(snapshot: Snapshot): ReadonlyMap<string, readonly TraitUse[]> {
  const uses = new Map<string, TraitUse[]>(Object.keys(snapshot.traits).map((name) => [name, []]));
  for (const { part, id, reads } of places(snapshot)) {
    for (const trait of reads.allTraits ? uses.keys() : reads.traits) uses.get(trait)?.push({ part, id });
  }
  return uses;
}

/** A place of the model with what it reads. */
interface ReadingPlace {
  part: ReadingPart;
  id: string;
  reads: Reads;
}

function places(snapshot: Snapshot): ReadingPlace[] {
  const { lifecycle, journeys, segments, health, rules, signals } = snapshot;
  const found: ReadingPlace[] = [];
  const add = (part: ReadingPart, id: string, collect: (reads: Reads) => void) => {
    const reads = new Reads();
    collect(reads);
    found.push({ part, id, reads });
  };
  for (const { name, transitions } of lifecycle?.states ?? []) {
    for (const { to, when } of transitions) add("lifecycle", `${name} → ${to}`, (reads) => reads.condition(when));
  }
  for (const { id, start, steps } of journeys) {
    add("journey", `${id}, start`, (reads) => reads.condition(start));
    for (const step of steps) add("journey", `${id}, ${step.id}`, (reads) => reads.condition(step.when));
  }
  for (const { id, when } of segments) add("segment", id, (reads) => reads.optional(when));
  for (const { id, score } of health?.components ?? []) add("health", id, (reads) => reads.score(score));
  for (const { id, on, when } of rules) {
    add("rule", id, (reads) => {
      if (on.kind === "event") reads.selector(on.of);
      if (on.kind === "traitsChanged") reads.allTraits = true;
      reads.optional(when);
    });
  }
  for (const { id, when } of signals) add("signal", id, (reads) => reads.optional(when));
  return found;
}

/** Collects what one place reads. */
class Reads {
  /** The events, with the properties of theirs that are asked for. */
  readonly events = new Map<string, Set<string>>();
  readonly traits = new Set<string>();
  allTraits = false;

  optional(when: Condition | undefined): void {
    if (when !== undefined) this.condition(when);
  }

  condition(condition: Condition): void {
    switch (condition.kind) {
      case "all":
      case "any":
        for (const part of condition.conditions) this.condition(part);
        return;
      case "not":
        return this.condition(condition.condition);
      case "count":
      case "daysSince":
        return this.selector(condition.of);
      case "aggregate":
      case "distinct":
      case "latest":
      case "latestExists":
        return this.selector(condition.of, condition.property);
      case "sequence":
        this.selector(condition.first);
        return this.selector(condition.then);
      case "trait":
      case "traitExists":
      case "traitDateWithin":
      case "traitDatePassed":
        this.traits.add(condition.trait);
        return;
      case "inactiveFor":
      case "activeWithin":
      case "lifecycle":
      case "inState":
      case "segment":
      case "journey":
      case "journeyStep":
      case "health":
      case "healthBand":
        return;
    }
  }

  selector({ event, where }: EventSelector, property?: string): void {
    const properties = this.events.get(event) ?? new Set();
    this.events.set(event, properties);
    if (property !== undefined) properties.add(property);
    if (where !== undefined) filtered(where, properties);
  }

  score(score: Score): void {
    if (score.kind === "map") this.traits.add(score.trait);
    else this.measure(score.of);
  }

  measure(measure: Measure): void {
    switch (measure.kind) {
      case "trait":
        this.traits.add(measure.trait);
        return;
      case "count":
      case "daysSince":
        return this.selector(measure.of);
      case "aggregate":
      case "distinct":
      case "latest":
        return this.selector(measure.of, measure.property);
    }
  }
}

/** Adds the properties that a filter asks for. */
function filtered(where: PropertyCondition, properties: Set<string>): void {
  switch (where.kind) {
    case "all":
    case "any":
      for (const part of where.conditions) filtered(part, properties);
      return;
    case "not":
      return filtered(where.condition, properties);
    case "compare":
    case "exists":
      properties.add(where.property);
      return;
  }
}
