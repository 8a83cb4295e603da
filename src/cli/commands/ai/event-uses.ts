import { messageParts } from "../../../model/snapshot/message.js";
import type { Snapshot } from "../../../model/snapshot/types.js";

/** The parts of a model that read something. */
export type ReadingPart = "lifecycle" | "journey" | "segment" | "health" | "rule" | "signal" | "display";

/** A place of the model that reads an event. */
export interface EventUse {
  part: ReadingPart;
  /** `trial → activated` for the lifecycle, `onboarding, invite_team` or `onboarding, start` for a journey, a health component, a member of
   * the display, or an id. */
  id: string;
  /** The names of the event's properties that are read there. */
  properties: string[];
}

/** A place of the model that reads a trait; `id` as in `EventUse`. */
export type TraitUse = Pick<EventUse, "part" | "id">;

/**
 * Where the model reads each declared event, in model order, each place once; empty if nothing reads it. `inactiveFor` and `activeWithin`,
 * which depend on any event, do not count as a use of a particular one.
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

/** Where the model reads each declared trait, like `eventUses`. A rule on `traitsChanged` uses all of them. */
export function traitUses(snapshot: Snapshot): ReadonlyMap<string, readonly TraitUse[]> {
  const uses = new Map<string, TraitUse[]>(Object.keys(snapshot.traits).map((name) => [name, []]));
  for (const { part, id, reads } of places(snapshot)) {
    for (const trait of reads.allTraits ? uses.keys() : reads.traits) uses.get(trait)?.push({ part, id });
  }
  return uses;
}

interface ReadingPlace {
  part: ReadingPart;
  id: string;
  reads: Reads;
}

interface Reads {
  /** The events read, with the properties of each that are read. */
  events: Map<string, Set<string>>;
  traits: Set<string>;
  allTraits: boolean;
}

function places({ lifecycle, journeys, segments, health, rules, signals, display }: Snapshot): ReadingPlace[] {
  const found: ReadingPlace[] = [];
  const add = (part: ReadingPart, id: string, ...read: unknown[]) => {
    const reads: Reads = { events: new Map(), traits: new Set(), allTraits: false };
    collect(read, reads);
    found.push({ part, id, reads });
    return reads;
  };
  for (const { name, transitions } of lifecycle?.states ?? []) {
    for (const { to, when } of transitions) add("lifecycle", `${name} → ${to}`, when);
  }
  for (const { id, start, steps } of journeys) {
    add("journey", `${id}, start`, start);
    for (const step of steps) add("journey", `${id}, ${step.id}`, step.when);
  }
  for (const { id, when } of segments) add("segment", id, when);
  for (const { id, score } of health?.components ?? []) add("health", id, score);
  for (const { id, on, when, then } of rules) {
    const parts = "message" in then ? (messageParts(then.message ?? "") ?? []) : [];
    const traits = parts.flatMap((part) => ("placeholder" in part ? { trait: part.placeholder } : []));
    add("rule", id, on, when, ...traits).allTraits = on.kind === "traitsChanged";
  }
  for (const { id, when } of signals) add("signal", id, when);
  for (const [member, traits] of Object.entries<string | string[]>({ ...display })) {
    add("display", member, ...[traits].flat().map((trait) => ({ trait })));
  }
  return found;
}

/**
 * Collects what conditions, scores and filters of any kind read: a node with an `event` selects its occurrences, a `trait` is the customer's,
 * and a `property` belongs to the event that is selected beside it (`of`) or around it.
 */
function collect(node: unknown, reads: Reads, around?: Set<string>): void {
  if (typeof node !== "object" || node === null) return;
  const { event, trait, property, of } = node as Record<string, unknown>;
  const properties = typeof event === "string" ? propertiesOf(event, reads) : around;
  if (typeof trait === "string") reads.traits.add(trait);
  if (typeof property === "string") (eventOf(of, reads) ?? properties)?.add(property);
  for (const part of Object.values(node)) collect(part, reads, properties);
}

function eventOf(selector: unknown, reads: Reads): Set<string> | undefined {
  return typeof selector === "object" ? propertiesOf((selector as { event: string }).event, reads) : undefined;
}

function propertiesOf(event: string, { events }: Reads): Set<string> {
  const properties = events.get(event) ?? new Set();
  events.set(event, properties);
  return properties;
}
