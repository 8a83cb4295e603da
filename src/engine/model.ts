import type { Segment, Snapshot } from "../snapshot/types.js";
import { ConditionCompiler, LIFECYCLE_ITEM, StreamRegistry } from "./conditions.js";
import { findCycles, orderByReads } from "./dependencies.js";
import { compileLifecycleItem, compileSegmentItem, type Item } from "./items.js";
import type { Stream } from "./streams.js";

/** A snapshot compiled to closures. Reusable for any number of customers; holds nothing of any of them. */
export interface Model {
  hash: string;
  /** Ids in the author's order. */
  segments: string[];
  streams: Stream[];
  streamsOf: Map<string, Stream[]>;
  /** In order of evaluation. */
  items: Item[];
  /** By item: the items that read its value. */
  readers: number[][];
  /** The items that any event concerns. */
  activityItems: number[];
  /** The position of the lifecycle among the items, or -1. */
  lifecycleItem: number;
}

/**
 * Compiles a snapshot.
 *
 * @param hash the snapshot's content hash: what the model derives from a customer's past is remembered under it
 * @throws {Error} if segments read each other in a cycle that does not pass through the lifecycle: their evaluation
 *   would not end. A validated snapshot has none.
 */
export function compileModel(snapshot: Snapshot, hash: string): Model {
  const segments = snapshot.segments.map(({ id }) => id);
  const registry = new StreamRegistry(snapshot);
  const items = inOrder(compileItems(snapshot, registry, new Map(segments.map((id, index) => [id, index]))));

  items.forEach((item, index) => {
    for (const stream of item.reads.streams) stream.items.push(index);
  });
  return {
    hash,
    segments,
    streams: registry.all,
    streamsOf: byEvent(registry.all),
    items,
    readers: items.map(({ name }) =>
      positions(items, (reader) => reader.name !== name && reader.reads.items.has(name)),
    ),
    activityItems: positions(items, ({ reads }) => reads.activity),
    lifecycleItem: items.findIndex(({ name }) => name === LIFECYCLE_ITEM),
  };
}

/** The items in the default order: lifecycle, then segments in the author's order. */
function compileItems(snapshot: Snapshot, registry: StreamRegistry, segmentIndex: Map<string, number>): Item[] {
  const compiler = (): ConditionCompiler => new ConditionCompiler(snapshot, registry, segmentIndex);
  const items: Item[] = [];
  if (snapshot.lifecycle !== null) items.push(compileLifecycleItem(snapshot.lifecycle, compiler()));
  snapshot.segments.forEach((segment, index) => {
    if (hasCondition(segment)) items.push(compileSegmentItem(segment, index, compiler()));
  });
  return items;
}

function inOrder(items: Item[]): Item[] {
  const names = items.map(({ name }) => name);
  const reads = new Map(items.map((item) => [item.name, item.reads.items]));
  // A lifecycle enters each state once per evaluation at most, so what passes through it ends.
  const cycle = findCycles(
    names.filter((name) => name !== LIFECYCLE_ITEM),
    reads,
  )[0];
  if (cycle !== undefined) throw new Error(`these read each other in a cycle: ${cycle.join(", ")}; break it`);
  const byName = new Map(items.map((item) => [item.name, item]));
  return orderByReads(names, reads).map((name) => byName.get(name)!);
}

function byEvent(streams: Stream[]): Map<string, Stream[]> {
  const groups = new Map<string, Stream[]>();
  for (const stream of streams) groups.set(stream.event, [...(groups.get(stream.event) ?? []), stream]);
  return groups;
}

function hasCondition(segment: Segment): segment is Required<Segment> {
  return segment.when !== undefined;
}

function positions(items: Item[], matches: (item: Item) => boolean): number[] {
  return items.flatMap((item, index) => (matches(item) ? [index] : []));
}
