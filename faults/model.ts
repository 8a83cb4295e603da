/** Derives a strict model from a history, with a few derived parts, so that evaluation can be checked as well. */
import { DemoFailure } from "../src/demo/failure.js";
import type { Condition, Field, ScalarType, Snapshot } from "../src/model/snapshot/types.js";

/** This many events make a customer active. */
export const ACTIVE_FROM = 25;
export const RULE = "each_once";
/** What the rule emits. */
export const RULED = "faults.ruled";

export interface Model {
  snapshot: Snapshot;
  /** The most frequent event; ACTIVE_FROM of them make a customer active. */
  counted: string;
  /** The rarest event; the model's rule runs once for each. */
  ruled: string;
  ruledEvents: number;
}

interface Member {
  type: ScalarType | "array";
  /** Type of an array's items; null while only empty arrays were seen. */
  items: ScalarType | null;
  seen: number;
}

interface EventDraft {
  events: number;
  properties: Map<string, Member>;
}

/** Collects names and types; throws a DemoFailure with the place of a value that a strict schema cannot declare. */
export class SchemaDraft {
  readonly #events = new Map<string, EventDraft>();
  readonly #traits = new Map<string, Member>();

  addEvent(event: string, properties: Record<string, unknown>, origin: string): void {
    let draft = this.#events.get(event);
    if (draft === undefined) this.#events.set(event, (draft = { events: 0, properties: new Map() }));
    draft.events++;
    for (const [name, value] of Object.entries(properties)) note(draft.properties, name, value, origin);
  }

  /** A trait that is null is removed, whatever its type. */
  addTraits(traits: Record<string, unknown>, origin: string): void {
    for (const [name, value] of Object.entries(traits)) if (value !== null) note(this.#traits, name, value, origin);
  }

  /** Null if no event was added. */
  model(): Model | null {
    const byFrequency = [...this.#events].toSorted(([, one], [, other]) => other.events - one.events);
    const [most, least] = [byFrequency[0], byFrequency.at(-1)];
    if (most === undefined || least === undefined) return null;
    const [counted] = most;
    const [ruled, { events: ruledEvents }] = least;
    return { counted, ruled, ruledEvents, snapshot: this.#snapshot(counted, ruled) };
  }

  /** Independent of the current time, so that a history has the same results whenever it is sent. */
  #snapshot(counted: string, ruled: string): Snapshot {
    const from = (value: number): Condition => ({ kind: "count", of: { event: counted }, operator: "gte", value });
    return {
      formatVersion: 1,
      strictSchema: true,
      events: Object.fromEntries(
        [...this.#events].map(([event, draft]) => [event, { properties: fields(draft.properties, draft.events) }]),
      ),
      traits: fields(this.#traits, 0),
      lifecycle: {
        initial: "new",
        states: [
          {
            name: "new",
            transitions: [{ to: "active", when: from(ACTIVE_FROM) }],
          },
          { name: "active", transitions: [] },
        ],
      },
      journeys: [
        {
          id: "growing",
          start: from(1),
          steps: [
            { id: "known", when: from(3) },
            { id: "used", when: from(10) },
          ],
        },
      ],
      segments: [{ id: "regular", when: from(5) }],
      health: {
        components: [
          {
            id: "use",
            weight: 1,
            score: { kind: "scale", of: { kind: "count", of: { event: counted } }, from: 0, to: 40 },
          },
        ],
        bands: [
          { id: "good", from: 50 },
          { id: "poor", from: 0 },
        ],
      },
      rules: [
        { id: RULE, on: { kind: "event", of: { event: ruled } }, then: { kind: "emit", type: RULED } },
        {
          id: "greet",
          on: { kind: "segmentEntered", segment: "regular" },
          then: { kind: "raiseSignal", signal: "new_regular" },
        },
      ],
      signals: [{ id: "new_regular", severity: "info" }],
    };
  }
}

function note(members: Map<string, Member>, name: string, value: unknown, origin: string): void {
  const type = typeOf(value);
  if (type === null) throw new DemoFailure(`${origin}: no model can declare the value of "${name}"`, 2);
  const items = Array.isArray(value) ? itemsOf(value, name, origin) : null;
  const member = members.get(name);
  if (member === undefined) {
    members.set(name, { type, items, seen: 1 });
    return;
  }
  member.items ??= items;
  member.seen++;
  if (member.type !== type || (items !== null && member.items !== items))
    throw new DemoFailure(`${origin}: "${name}" has another type than before, which no strict model can declare`, 2);
}

function itemsOf(values: readonly unknown[], name: string, origin: string): ScalarType | null {
  const types = new Set(values.map(typeOf));
  const [type] = types;
  if (type === undefined) return null;
  if (types.size > 1 || type === null || type === "array")
    throw new DemoFailure(`${origin}: no model can declare the items of "${name}"`, 2);
  return type;
}

function typeOf(value: unknown): ScalarType | "array" | null {
  if (Array.isArray(value)) return "array";
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? (typeof value as ScalarType)
    : null;
}

/** Fields that are not in all events are optional; traits always are, without a flag. */
function fields(members: Map<string, Member>, events: number): Record<string, Field> {
  return Object.fromEntries(
    [...members].map(([name, { type, items, seen }]): [string, Field] => {
      const optional = seen < events ? ({ optional: true } as const) : {};
      return [
        name,
        type === "array" ? { type, items: { type: items ?? "string" }, ...optional } : { type, ...optional },
      ];
    }),
  );
}
