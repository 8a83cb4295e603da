import type { Rule, Snapshot } from "../../model/snapshot/types.js";
import { HEALTH_ITEM, journeyItem, LIFECYCLE_ITEM, ruleItem, segmentItem, signalItem } from "../compile-context.js";
import { ConditionCompiler } from "../conditions/conditions.js";
import type { DerivedPart, Model } from "../open-customer.js";
import { compileHealthItem } from "../parts/health.js";
import { CompiledJourney } from "../parts/journey.js";
import { compileLifecycleItem } from "../parts/lifecycle.js";
import { compileRuleItem, OCCASIONS } from "../parts/rule.js";
import { compileSegmentItem } from "../parts/segment.js";
import { compileSignalItem } from "../parts/signal.js";
import { AggregateRegistry } from "./registry.js";

type Reads = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * The order of evaluation of a model's items: each item comes after those whose values it reads. Items that read each other in
 * a cycle are adjacent, in the default order. Otherwise items keep the default order, each directly preceded by what it reads
 * and has not come yet.
 *
 * @param names the items in the default order
 * @param reads what each item reads; names that are not items are ignored
 */
function orderByReads(names: readonly string[], reads: Reads): string[] {
  const groups = findGroups(names, reads);
  const groupOf = new Map(groups.flatMap((group) => group.map((name) => [name, group])));
  const placed = new Set<string[]>();
  const order: string[] = [];
  const place = (group: string[]): void => {
    if (placed.has(group)) return;
    placed.add(group);
    const readByGroup = new Set(group.flatMap((name) => [...(reads.get(name) ?? [])]));
    for (const name of inDefaultOrder(readByGroup, names)) place(groupOf.get(name)!);
    order.push(...group);
  };
  for (const name of names) place(groupOf.get(name)!);
  return order;
}

/** Tarjan's strongly connected components: items that read each other directly or through others, and single items. */
function findGroups(names: readonly string[], reads: Reads): string[][] {
  const known = new Set(names);
  const nodes = new Map<string, { order: number; low: number; open: boolean }>();
  const path: string[] = [];
  const groups: string[][] = [];
  const visit = (name: string): { low: number; open: boolean } => {
    const node = { order: nodes.size, low: nodes.size, open: true };
    nodes.set(name, node);
    path.push(name);
    for (const read of reads.get(name) ?? []) {
      if (!known.has(read)) continue;
      const other = nodes.get(read) ?? visit(read);
      if (other.open) node.low = Math.min(node.low, other.low);
    }
    if (node.low === node.order) {
      const group = path.splice(path.lastIndexOf(name));
      for (const member of group) nodes.get(member)!.open = false;
      groups.push(inDefaultOrder(new Set(group), names));
    }
    return node;
  };
  for (const name of names) if (!nodes.has(name)) visit(name);
  return groups;
}

function inDefaultOrder(subset: ReadonlySet<string>, names: readonly string[]): string[] {
  return names.filter((name) => subset.has(name));
}

/**
 * Compiles a snapshot.
 *
 * @param hash the snapshot's content hash, which identifies the condition memories of the model
 * @throws {Error} if items read each other in a cycle that passes neither through the lifecycle nor through a journey:
 *   their evaluation would not end. A validated snapshot has no such cycle.
 */
export function compileModel(snapshot: Snapshot, hash: string): Model {
  const registry = new AggregateRegistry(snapshot);
  const items = inOrder(compileItems(snapshot, registry));
  items.forEach(({ reads }, index) => {
    for (const stream of reads.streams) stream.items.push(index);
    for (const aggregate of reads.aggregates) aggregate.items.push(index);
  });
  const readersOf = (name: string): number[] =>
    positions(items, (reader) => reader.name !== name && reader.reads.items.has(name));
  const indexOf = (name: string): number => items.findIndex((item) => item.name === name);
  const rulesOn = (matches: (rule: Rule) => boolean): number[] =>
    snapshot.rules.filter(matches).map(({ id }) => indexOf(ruleItem(id)));
  // No item reads a rule, so rules keep the default order and come after the health.
  const bandRules = rulesOn(({ on }) => "band" in on);
  return {
    hash,
    ...memoryKeysOf(hash, registry),
    journeys: snapshot.journeys.map(({ id }) => id),
    journeySteps: snapshot.journeys.map(({ steps }) => steps.map(({ id }) => id)),
    segments: snapshot.segments.map(({ id }) => id),
    rules: snapshot.rules.map(({ id }) => id),
    signals: snapshot.signals,
    registry,
    propertyEvents: propertyEventsOf(snapshot, registry),
    items,
    readers: items.map(({ name }) => (name === HEALTH_ITEM ? [...readersOf(name), ...bandRules] : readersOf(name))),
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
    awaited: awaitedBy(snapshot.rules),
    traitRuleItems: rulesOn(({ on }) => on.kind === "traitsChanged"),
    lifecycleItem: indexOf(LIFECYCLE_ITEM),
    journeyItems: snapshot.journeys.map(({ id }) => indexOf(journeyItem(id))),
    refreshedItem: isHealthRead(items) ? -1 : indexOf(HEALTH_ITEM),
  };
}

function awaitedBy(rules: readonly Rule[]): Model["awaited"] {
  const awaited = rules.flatMap(({ on }) =>
    on.kind === "event" || on.kind === "traitsChanged" ? [] : [OCCASIONS[on.kind]],
  );
  return [...new Set(awaited)];
}

/** If conditions share nothing and no count is summed up, the memory has its original layout, whose key is the hash alone. */
function memoryKeysOf(hash: string, { sharesAggregates, hasLaterBoundaries, sumsCounts }: AggregateRegistry) {
  const keys = sharesAggregates ? [`${hash}/shared`, hash] : [hash];
  // In former layouts such conditions shared memories that did not take the later boundary into account, so these cannot be read.
  if (hasLaterBoundaries) keys.splice(0, keys.length, `${hash}/runs`);
  if (sumsCounts) keys.unshift(`${hash}/ones`);
  const [memoryKey, ...formerMemoryKeys] = keys as [string, ...string[]];
  return { memoryKey, formerMemoryKeys };
}

/** The streams and aggregates of a snapshot's conditions, without the rest of the model. */
export function compileRegistry(snapshot: Snapshot): AggregateRegistry {
  const registry = new AggregateRegistry(snapshot);
  compileItems(snapshot, registry);
  return registry;
}

/** Compiles the items of a model in the default order: lifecycle, journeys, segments, health, rules, signals. */
function compileItems(snapshot: Snapshot, registry: AggregateRegistry): DerivedPart[] {
  const { lifecycle, journeys, segments, health, rules, signals } = snapshot;
  const [segmentIndex, journeyIndex, signalIndex] = [segments, journeys, signals].map(
    (parts) => new Map(parts.map(({ id }, index) => [id, index])),
  ) as [Map<string, number>, Map<string, number>, Map<string, number>];
  const context = { snapshot, registry, segmentIndex, journeyIndex, signalIndex };
  const compiler = (): ConditionCompiler => new ConditionCompiler(context);
  const before = [
    ...(lifecycle === null ? [] : [compileLifecycleItem(lifecycle, compiler())]),
    ...journeys.map((journey, index) => new CompiledJourney(journey, index, compiler())),
    ...segments.flatMap(({ id, when }, index) =>
      when === undefined ? [] : [compileSegmentItem({ id, when }, index, compiler())],
    ),
  ];
  const after = [
    ...rules.map((rule, index) => compileRuleItem(rule, index, compiler())),
    ...signals.flatMap((signal, index) =>
      signal.when !== undefined || signal.for !== undefined ? [compileSignalItem(signal, index, compiler())] : [],
    ),
  ];
  const isRead = isHealthRead([...before, ...after]);
  const items = [...before, ...(health === null ? [] : [compileHealthItem(health, isRead, compiler())]), ...after];
  registry.close();
  return items;
}

function propertyEventsOf({ rules }: Snapshot, { streams, aggregates }: AggregateRegistry): string[] {
  const names = [
    ...streams.flatMap(({ event, where }) => (where === null ? [] : [event])),
    ...aggregates.flatMap(({ events }) => events),
    ...rules.flatMap(({ on }) => (on.kind === "event" && on.of.where !== undefined ? [on.of.event] : [])),
  ];
  return [...new Set(names)];
}

function isHealthRead(items: readonly DerivedPart[]): boolean {
  return items.some(({ reads }) => reads.items.has(HEALTH_ITEM));
}

/** Sorts items in order of evaluation. Cycles through the lifecycle or a journey end: per evaluation, a state is entered or a run started once. */
function inOrder(items: DerivedPart[]): DerivedPart[] {
  const names = items.map(({ name }) => name);
  const reads = new Map(items.map((item) => [item.name, item.reads.items]));
  const steady = names.filter((name) => name !== LIFECYCLE_ITEM && !name.startsWith(journeyItem("")));
  const cycle = findGroups(steady, reads).find(([one, another]) => another !== undefined || reads.get(one!)?.has(one!));
  if (cycle !== undefined) throw new Error(`these read each other in a cycle: ${cycle.join(", ")}; break it`);
  const byName = new Map(items.map((item) => [item.name, item]));
  return orderByReads(names, reads).map((name) => byName.get(name)!);
}

function positions(items: readonly DerivedPart[], matches: (item: DerivedPart) => boolean): number[] {
  return items.flatMap((item, index) => (matches(item) ? [index] : []));
}
