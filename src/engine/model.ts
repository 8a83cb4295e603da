import type { Rule, Segment, Severity, Snapshot } from "../snapshot/types.js";
import {
  ConditionCompiler,
  HEALTH_ITEM,
  journeyItem,
  LIFECYCLE_ITEM,
  ruleItem,
  segmentItem,
  signalItem,
} from "./conditions.js";
import { findCycles, orderByReads } from "./dependencies.js";
import { compileHealthItem } from "./item-health.js";
import { compileJourneyItem } from "./item-journey.js";
import { compileLifecycleItem } from "./item-lifecycle.js";
import { compileRuleItem } from "./item-rule.js";
import { compileSegmentItem } from "./item-segment.js";
import { compileSignalItem } from "./item-signal.js";
import type { Item } from "./item.js";
import { Registry } from "./registry.js";

/** A snapshot compiled to closures. Reusable for any number of customers; holds nothing of any of them. */
export interface Model {
  hash: string;
  /** What the memory of conditions is kept under. */
  memoryKey: string;
  /** Ids in the author's order. */
  journeys: string[];
  /** By journey: the ids of its steps. */
  journeySteps: string[][];
  segments: string[];
  rules: string[];
  signals: { id: string; severity: Severity; message?: string }[];
  /** What conditions remember of events. */
  registry: Registry;
  /** The events whose properties it reads. */
  propertyEvents: string[];
  /** In order of evaluation. */
  items: Item[];
  /** By item: the items that read its value. */
  readers: number[][];
  /** By segment, by signal: the items that read it; of a signal also the one that clears it. */
  segmentReaders: number[][];
  signalReaders: number[][];
  /** The items that any event concerns, and rules by the event that triggers them. */
  activityItems: number[];
  ruleItemsOf: Map<string, number[]>;
  /** The rules that a change of traits triggers. */
  traitRuleItems: number[];
  /** The position of the lifecycle among the items, or -1, and those of the journeys. */
  lifecycleItem: number;
  journeyItems: number[];
  /** The position of health that no condition reads, or -1. */
  refreshedItem: number;
}

/**
 * Compiles a snapshot.
 *
 * @param hash the snapshot's content hash: what the model derives from a customer's past is remembered under it
 * @throws {Error} if items read each other in a cycle that passes neither through the lifecycle nor through a journey:
 *   their evaluation would not end. A validated snapshot has none.
 */
export function compileModel(snapshot: Snapshot, hash: string): Model {
  const registry = new Registry(snapshot);
  const items = inOrder(new ItemCompiler(snapshot, registry).compile());

  items.forEach(({ reads }, index) => {
    for (const stream of reads.streams) stream.items.push(index);
    for (const aggregate of reads.aggregates) aggregate.items.push(index);
  });
  const readersOf = (name: string): number[] =>
    positions(items, (reader) => reader.name !== name && reader.reads.items.has(name));
  const indexOf = (name: string): number => items.findIndex((item) => item.name === name);
  const rulesOn = (matches: (rule: Rule) => boolean): number[] =>
    snapshot.rules.filter(matches).map(({ id }) => indexOf(ruleItem(id)));
  return {
    hash,
    // Where conditions share nothing, their memory is laid out as it always was.
    memoryKey: registry.sharesAggregates ? `${hash}/shared` : hash,
    journeys: snapshot.journeys.map(({ id }) => id),
    journeySteps: snapshot.journeys.map(({ steps }) => steps.map(({ id }) => id)),
    segments: snapshot.segments.map(({ id }) => id),
    rules: snapshot.rules.map(({ id }) => id),
    signals: snapshot.signals,
    registry,
    propertyEvents: propertyEventsOf(snapshot, registry),
    items,
    readers: items.map(({ name }) => readersOf(name)),
    segmentReaders: snapshot.segments.map(({ id }) => readersOf(segmentItem(id))),
    signalReaders: snapshot.signals.map(({ id }) =>
      positions(items, ({ name, reads }) => name === signalItem(id) || reads.items.has(signalItem(id))),
    ),
    activityItems: positions(items, ({ reads }) => reads.activity),
    ruleItemsOf: new Map(
      snapshot.rules.flatMap(({ on }) => {
        if (on.kind !== "event") return [];
        const { event } = on.of;
        return [[event, rulesOn((rule) => rule.on.kind === "event" && rule.on.of.event === event)]];
      }),
    ),
    traitRuleItems: rulesOn(({ on }) => on.kind === "traitsChanged"),
    lifecycleItem: indexOf(LIFECYCLE_ITEM),
    journeyItems: snapshot.journeys.map(({ id }) => indexOf(journeyItem(id))),
    refreshedItem: isHealthRead(items) ? -1 : indexOf(HEALTH_ITEM),
  };
}

/** What the conditions of a snapshot remember of events, without the rest of its model. */
export function compileRegistry(snapshot: Snapshot): Registry {
  const registry = new Registry(snapshot);
  new ItemCompiler(snapshot, registry).compile();
  return registry;
}

/** Compiles the items of a model in the default order: lifecycle, journeys, segments, health, rules, signals. */
class ItemCompiler {
  readonly #snapshot: Snapshot;
  readonly #context: ConstructorParameters<typeof ConditionCompiler>[0];
  readonly #signalIndex: Map<string, number>;

  constructor(snapshot: Snapshot, registry: Registry) {
    this.#snapshot = snapshot;
    this.#signalIndex = indexById(snapshot.signals);
    this.#context = {
      snapshot,
      registry,
      segmentIndex: indexById(snapshot.segments),
      journeyIndex: indexById(snapshot.journeys),
    };
  }

  compile(): Item[] {
    const { lifecycle, journeys, segments, health, rules, signals } = this.#snapshot;
    const compiler = (): ConditionCompiler => new ConditionCompiler(this.#context);
    const rest = { ...this.#context, signalIndex: this.#signalIndex };
    const others = [
      ...(lifecycle === null ? [] : [compileLifecycleItem(lifecycle, compiler())]),
      ...journeys.map((journey, index) => compileJourneyItem(journey, index, compiler())),
      ...segments.flatMap((segment, index) =>
        hasCondition(segment) ? [compileSegmentItem(segment, index, compiler())] : [],
      ),
    ];
    const last = [
      ...rules.map((rule, index) => compileRuleItem(rule, index, compiler(), rest)),
      ...signals.flatMap((signal, index) =>
        signal.when !== undefined || signal.for !== undefined ? [compileSignalItem(signal, index, compiler())] : [],
      ),
    ];
    const isRead = isHealthRead([...others, ...last]);
    return [...others, ...(health === null ? [] : [compileHealthItem(health, isRead, compiler())]), ...last];
  }
}

function propertyEventsOf({ rules }: Snapshot, { streams, aggregates }: Registry): string[] {
  const names = [
    ...streams.flatMap(({ event, where }) => (where === null ? [] : [event])),
    ...aggregates.flatMap(({ events }) => events),
    ...rules.flatMap(({ on }) => (on.kind === "event" && on.of.where !== undefined ? [on.of.event] : [])),
  ];
  return [...new Set(names)];
}

function isHealthRead(items: readonly Item[]): boolean {
  return items.some(({ reads }) => reads.items.has(HEALTH_ITEM));
}

/** In order of evaluation. What passes through a lifecycle or a journey ends: each is entered or started once. */
function inOrder(items: Item[]): Item[] {
  const names = items.map(({ name }) => name);
  const reads = new Map(items.map((item) => [item.name, item.reads.items]));
  const steady = names.filter((name) => name !== LIFECYCLE_ITEM && !name.startsWith(journeyItem("")));
  const cycle = findCycles(steady, reads)[0];
  if (cycle !== undefined) throw new Error(`these read each other in a cycle: ${cycle.join(", ")}; break it`);
  const byName = new Map(items.map((item) => [item.name, item]));
  return orderByReads(names, reads).map((name) => byName.get(name)!);
}

function indexById(parts: readonly { id: string }[]): Map<string, number> {
  return new Map(parts.map(({ id }, index) => [id, index]));
}

function hasCondition(segment: Segment): segment is Required<Segment> {
  return segment.when !== undefined;
}

function positions(items: readonly Item[], matches: (item: Item) => boolean): number[] {
  return items.flatMap((item, index) => (matches(item) ? [index] : []));
}
