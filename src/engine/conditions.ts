import { canonicalJson } from "../snapshot/canonical.js";
import { parseDuration } from "../snapshot/duration.js";
import type { Condition, EventSelector, Snapshot } from "../snapshot/types.js";
import { compileComparison, compileExists, compilePropertyCondition } from "./compare.js";
import { compileCount } from "./count.js";
import { parseInstant } from "./dates.js";
import { memberReader } from "./json.js";
import type { Stream } from "./streams.js";
import type { Working } from "./working.js";

export type ConditionTest = (customer: Working) => boolean;
/** The earliest instant after the clock at which a condition changes by time alone, or Infinity. */
export type NextChange = (customer: Working) => number;

/** What conditions read: the names of the items whose values they read, streams, and whether any event matters. */
export interface Reads {
  items: Set<string>;
  streams: Set<Stream>;
  activity: boolean;
}

export const LIFECYCLE_ITEM = "lifecycle";
export const segmentItem = (id: string): string => `segment ${id}`;

/** The conditions of one item of a model, compiled together: they share what they read and when it changes. */
export class ConditionCompiler {
  readonly reads: Reads = { items: new Set(), streams: new Set(), activity: false };

  constructor(
    private readonly snapshot: Snapshot,
    private readonly streams: StreamRegistry,
    private readonly segmentIndex: ReadonlyMap<string, number>,
  ) {}

  /** The test of a condition; the changes by time alone of its whole tree are added to `changes`. */
  compile(condition: Condition, changes: NextChange[]): ConditionTest {
    switch (condition.kind) {
      case "all":
        return all(condition.conditions.map((inner) => this.compile(inner, changes)));
      case "any":
        return any(condition.conditions.map((inner) => this.compile(inner, changes)));
      case "not": {
        const test = this.compile(condition.condition, changes);
        return (customer) => !test(customer);
      }
      case "count":
        return this.compileCount(condition, changes);
      case "trait":
      case "traitExists":
        return this.compileTrait(condition);
      case "traitDateWithin":
        return compileDateWithin(condition.trait, parseDuration(condition.within), changes);
      case "inactiveFor":
      case "activeWithin":
        this.reads.activity = true;
        return compileActivity(condition.kind, parseDuration(condition.duration), changes);
      case "lifecycle":
        this.reads.items.add(LIFECYCLE_ITEM);
        return compileLifecycle(condition.states);
      case "inState":
        this.reads.items.add(LIFECYCLE_ITEM);
        return compileInState(parseDuration(condition.atLeast), changes);
      case "segment":
        this.reads.items.add(segmentItem(condition.segment));
        return this.compileSegment(condition.segment);
    }
  }

  private compileCount(condition: Extract<Condition, { kind: "count" }>, changes: NextChange[]): ConditionTest {
    const stream = this.streams.stream(condition.of);
    this.reads.streams.add(stream);
    if (condition.since === "state") this.reads.items.add(LIFECYCLE_ITEM);
    const count = compileCount(stream.index, {
      operator: condition.operator,
      value: condition.value,
      within: condition.within === undefined ? undefined : parseDuration(condition.within),
      sinceState: condition.since === "state",
    });
    stream.capacity = Math.max(stream.capacity, count.capacity);
    if (count.nextChange !== null) changes.push(count.nextChange);
    return count.test;
  }

  private compileTrait(condition: Extract<Condition, { kind: "trait" | "traitExists" }>): ConditionTest {
    const { traits } = this.snapshot;
    const field = Object.hasOwn(traits, condition.trait) ? traits[condition.trait] : undefined;
    const read = memberReader(condition.trait);
    const test =
      condition.kind === "trait" ? compileComparison(field, condition.operator, condition.value) : compileExists(field);
    return (customer) => test(read(customer.traits));
  }

  private compileSegment(id: string): ConditionTest {
    const index = this.segmentIndex.get(id);
    if (index === undefined) return () => false;
    return (customer) => customer.enteredSegmentAt[index] !== undefined;
  }
}

/** The streams of a model: equal selectors share one. */
export class StreamRegistry {
  readonly all: Stream[] = [];
  private readonly byKey = new Map<string, Stream>();

  constructor(private readonly snapshot: Snapshot) {}

  stream(selector: EventSelector): Stream {
    const { event, where } = selector;
    const key = canonicalJson([event, where ?? null]);
    const known = this.byKey.get(key);
    if (known !== undefined) return known;
    const { events } = this.snapshot;
    const fields = Object.hasOwn(events, event) ? events[event]!.properties : {};
    const stream: Stream = {
      index: this.all.length,
      event,
      where: where === undefined ? null : compilePropertyCondition(where, fields),
      capacity: 0,
      items: [],
    };
    this.all.push(stream);
    this.byKey.set(key, stream);
    return stream;
  }
}

function all(tests: ConditionTest[]): ConditionTest {
  if (tests.length === 2) {
    const [first, second] = tests as [ConditionTest, ConditionTest];
    return (customer) => first(customer) && second(customer);
  }
  return (customer) => tests.every((test) => test(customer));
}

function any(tests: ConditionTest[]): ConditionTest {
  if (tests.length === 2) {
    const [first, second] = tests as [ConditionTest, ConditionTest];
    return (customer) => first(customer) || second(customer);
  }
  return (customer) => tests.some((test) => test(customer));
}

function compileActivity(kind: "inactiveFor" | "activeWithin", duration: number, changes: NextChange[]): ConditionTest {
  if (kind === "activeWithin") {
    // The last event leaves the half-open window exactly at its instant plus the duration.
    changes.push((customer) => after(customer, customer.lastEventAt + duration));
    return (customer) => customer.lastEventAt + duration > customer.clock;
  }
  changes.push((customer) => after(customer, quietSince(customer) + duration));
  return (customer) => quietSince(customer) + duration <= customer.clock;
}

function quietSince(customer: Working): number {
  return customer.lastEventAt === -Infinity ? customer.firstEvaluatedAt : customer.lastEventAt;
}

function compileLifecycle(states: string[]): ConditionTest {
  const set = new Set<string | null>(states);
  return (customer) => set.has(customer.state);
}

function compileInState(atLeast: number, changes: NextChange[]): ConditionTest {
  changes.push((customer) => after(customer, customer.enteredAt + atLeast));
  return (customer) => customer.enteredAt + atLeast <= customer.clock;
}

function compileDateWithin(trait: string, within: number, changes: NextChange[]): ConditionTest {
  const read = memberReader(trait);
  changes.push((customer) => {
    const date = parseInstant(read(customer.traits));
    if (date === undefined) return Infinity;
    return Math.min(after(customer, date - within), after(customer, date));
  });
  return (customer) => {
    const date = parseInstant(read(customer.traits));
    return date !== undefined && date - within <= customer.clock && customer.clock < date;
  };
}

function after(customer: Working, instant: number): number {
  return instant > customer.clock ? instant : Infinity;
}
