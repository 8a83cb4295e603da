import { canonicalJson } from "../snapshot/canonical.js";
import { asWhole, type Changes, member, type ComparedPart, same } from "./change.js";
import type { Placed } from "../snapshot/list.js";
import { at } from "../snapshot/problem.js";
import type {
  CompareOperator,
  Condition,
  EventSelector,
  Measure,
  OccurrenceScope,
  PropertyCondition,
} from "../snapshot/types.js";
import {
  comparedText,
  conditionText,
  measureText,
  sinceText,
  unscopedText,
  type Comparison,
} from "../snapshot/words.js";

type AnyCondition = Condition | PropertyCondition;
type Group = Extract<AnyCondition, { kind: "all" | "any" }>;
/** A condition without others in it, or a number that is measured. */
type Leaf = Exclude<AnyCondition, { kind: "all" | "any" | "not" }> | Measure;

/**
 * Compares what a part asks for, as closely as can be told: where both ask the same of something, only the threshold, the window or
 * the filter; of groups the conditions that came and went; otherwise the whole.
 *
 * @param label what it is called in the part, for example `when`.
 */
export function compareConditions(
  part: ComparedPart,
  label: string,
  before: Placed<AnyCondition> | undefined,
  after: Placed<AnyCondition> | undefined,
  changes: Changes,
): void {
  if (same(before?.item, after?.item)) return;
  if (before === undefined || after === undefined || identity(before.item) !== identity(after.item)) {
    asWhole(changes, part, label, conditionText)(before, after);
  } else if (isGroup(before) && isGroup(after)) {
    compareGroups(part, label, before, after, changes);
  } else if (before.item.kind === "not" && after.item.kind === "not") {
    const inner = (side: Placed<AnyCondition>, condition: AnyCondition): Placed<AnyCondition> => ({
      item: condition,
      path: at(side.path, "condition"),
    });
    const [was, is] = [inner(before, before.item.condition), inner(after, after.item.condition)];
    compareConditions(part, label, was, is, changes);
  } else {
    compareLeaves(part, before as Placed<Leaf>, after as Placed<Leaf>, changes);
  }
}

/** Compares the numbers that two scores are made of. */
export function compareMeasures(
  part: ComparedPart,
  before: Placed<Measure>,
  after: Placed<Measure>,
  changes: Changes,
): void {
  if (same(before.item, after.item)) return;
  if (identity(before.item) === identity(after.item)) compareLeaves(part, before, after, changes);
  else asWhole(changes, part, "measure", measureText)(before, after);
}

/** Compares the occurrences that two parts select, which are of the same event. */
export function compareFilters(
  part: ComparedPart,
  before: Placed<EventSelector>,
  after: Placed<EventSelector>,
  changes: Changes,
): void {
  const label = `filter of ${JSON.stringify(after.item.event)}`;
  compareConditions(part, label, member(before, "where"), member(after, "where"), changes);
}

function isGroup(side: Placed<AnyCondition>): side is Placed<Group> {
  return side.item.kind === "all" || side.item.kind === "any";
}

/** Conditions are paired where they are equal, then where they ask the same of something; what is left came or went. */
function compareGroups(
  part: ComparedPart,
  label: string,
  before: Placed<Group>,
  after: Placed<Group>,
  changes: Changes,
): void {
  const [older, newer] = [partsOf(before), partsOf(after)];
  const pairs = new Map<number, number>();
  pair(older, newer, canonicalJson, pairs);
  pair(older, newer, identity, pairs);
  const taken = new Set(pairs.values());
  const gone = older.filter((_, index) => !taken.has(index));
  const come = newer.filter((_, index) => !pairs.has(index));

  newer.forEach((one, index) => {
    const match = pairs.get(index);
    if (match !== undefined) compareConditions(part, "condition", older[match], one, changes);
  });
  if (gone.length === 1 && come.length === 1) {
    asWhole(changes, part, "condition", conditionText)(gone[0], come[0]);
  } else {
    for (const one of come) changes.changed(part, undefined, one, `condition added: ${conditionText(one.item)}`);
    for (const one of gone) changes.changed(part, one, undefined, `condition removed: ${conditionText(one.item)}`);
  }
  const matches = newer.flatMap((_, index) => pairs.get(index) ?? []);
  if (matches.some((match, index) => index > 0 && match < matches[index - 1]!)) {
    const message = `${label}: conditions in another order (the meaning is the same)`;
    changes.changed(part, member(before, "conditions"), member(after, "conditions"), message);
  }
}

function partsOf({ item, path }: Placed<Group>): Placed<AnyCondition>[] {
  return item.conditions.map((condition, index) => ({ item: condition, path: at(at(path, "conditions"), index) }));
}

/** Adds pairs of those that have the same key and no pair yet, in order. `pairs` leads from newer to older. */
function pair(
  older: readonly Placed<AnyCondition>[],
  newer: readonly Placed<AnyCondition>[],
  keyOf: (condition: AnyCondition) => string,
  pairs: Map<number, number>,
): void {
  const taken = new Set(pairs.values());
  const free = new Map<string, number[]>();
  older.forEach(({ item }, index) => {
    if (taken.has(index)) return;
    const key = keyOf(item);
    const known = free.get(key);
    if (known) known.push(index);
    else free.set(key, [index]);
  });
  newer.forEach(({ item }, index) => {
    const match = pairs.has(index) ? undefined : free.get(keyOf(item))?.shift();
    if (match !== undefined) pairs.set(index, match);
  });
}

/** What a condition or a measure asks of what, without how much, how often and when: equal for two that are one, changed. */
function identity(leaf: AnyCondition | Measure): string {
  return canonicalJson([leaf.kind, ...about(leaf)]);
}

function about(leaf: AnyCondition | Measure): (string | null)[] {
  switch (leaf.kind) {
    case "count":
      return [leaf.of.event];
    case "aggregate":
      return [leaf.function, leaf.of.event, leaf.property];
    case "distinct":
    case "latest":
    case "latestExists":
      return [leaf.of.event, leaf.property];
    case "daysSince":
      return [leaf.which, leaf.of.event];
    case "sequence":
      return [leaf.first.event, leaf.then.event];
    case "compare":
    case "exists":
      return [leaf.property];
    case "trait":
    case "traitExists":
    case "traitDateWithin":
    case "traitDatePassed":
      return [leaf.trait];
    case "segment":
      return [leaf.segment];
    case "journey":
      return [leaf.journey];
    case "journeyStep":
      return [leaf.journey, leaf.step];
    case "health":
      return [leaf.component ?? null];
    default:
      return [];
  }
}

/** Compares two leaves of one identity, member by member. How something compares, and with what, is told together. */
function compareLeaves(part: ComparedPart, before: Placed<Leaf>, after: Placed<Leaf>, changes: Changes): void {
  const names = new Set([...Object.keys(before.item), ...Object.keys(after.item)]);
  const differing = [...names].filter((name) => !same(valueOf(before, name)?.item, valueOf(after, name)?.item));
  const isCompared = differing.includes("operator") && differing.includes("value");
  const rest = isCompared ? differing.filter((name) => name !== "operator" && name !== "value") : differing;
  if (isCompared) changes.changed(part, before, after, wholeText(before.item, after.item));
  for (const name of rest) {
    const [older, newer] = [valueOf(before, name), valueOf(after, name)];
    if (isSelector(older) && isSelector(newer)) compareFilters(part, older, newer, changes);
    else changes.changed(part, older, newer, memberText(name, before.item, after.item));
  }
}

function memberText(name: string, before: Leaf, after: Leaf): string {
  if (name === "value" && isOrder(before) && isOrder(after)) {
    return `threshold of ${comparedText(after)}: ${String(before.value)} → ${String(after.value)}`;
  }
  if (name === "within" && isScoped(before) && isScoped(after)) {
    return `window of ${whatOf(after)}: ${before.within ?? "none"} → ${after.within ?? "none"}`;
  }
  if (name === "since" && isScoped(before) && isScoped(after)) {
    return `start of ${whatOf(after)}: ${startText(before)} → ${startText(after)}`;
  }
  return wholeText(before, after);
}

function wholeText(before: Leaf, after: Leaf): string {
  return `${leafText(before)} → ${leafText(after)}`;
}

function valueOf({ item, path }: Placed<Leaf>, name: string): Placed<unknown> | undefined {
  return member({ item: item as unknown as Record<string, unknown>, path }, name);
}

function isSelector(side: Placed<unknown> | undefined): side is Placed<EventSelector> {
  return typeof side?.item === "object" && "event" in side.item!;
}

const ORDERS: ReadonlySet<CompareOperator> = new Set(["lt", "lte", "gt", "gte"]);

function isOrder(leaf: Leaf): leaf is Comparison {
  return "operator" in leaf && ORDERS.has(leaf.operator);
}

type Scoped = Exclude<Extract<Leaf, { of: EventSelector }>, { kind: "daysSince" }>;

/** Whether it may have a window or a start; that of a sequence is another matter. */
function isScoped(leaf: Leaf): leaf is Scoped {
  return "of" in leaf && leaf.kind !== "daysSince";
}

function whatOf(leaf: Scoped): string {
  return unscopedText(leaf.kind === "latestExists" ? { ...leaf, kind: "latest" } : leaf);
}

function startText({ since }: OccurrenceScope): string {
  return since === undefined ? "none" : sinceText(since);
}

const MEASURES: ReadonlySet<string> = new Set<Measure["kind"]>([
  "count",
  "aggregate",
  "distinct",
  "latest",
  "daysSince",
  "trait",
]);

/** A measure is a comparison without what it is compared with. */
function leafText(leaf: Leaf): string {
  return MEASURES.has(leaf.kind) && !("operator" in leaf)
    ? measureText(leaf as Measure)
    : conditionText(leaf as Condition);
}
