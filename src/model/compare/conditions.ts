import { canonicalJson } from "../snapshot/canonical.js";
import { type Change, change, type Compare, type ComparedPart, member, same, type Side, whole } from "./change.js";
import { at, type Placed } from "../snapshot/problem.js";
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
type Negation = Extract<AnyCondition, { kind: "not" }>;
/** A condition without others in it, or a number that is measured. */
type Leaf = Exclude<AnyCondition, Group | Negation> | Measure;

/**
 * Compares what a part asks for, as closely as can be told: where both ask the same of something, only the threshold, the window or
 * the filter; of groups the conditions that came and went; otherwise the whole.
 *
 * @param label what it is called in the part, for example `when`.
 */
export function conditions(label: string): Compare<AnyCondition> {
  return (part, before, after) => {
    if (same(before?.item, after?.item)) return [];
    if (before === undefined || after === undefined || identity(before.item) !== identity(after.item))
      return whole(label, conditionText)(part, before, after);
    switch (after.item.kind) {
      case "all":
      case "any":
        return compareGroups(part, label, before as Placed<Group>, after as Placed<Group>);
      case "not":
        return conditions(label)(
          part,
          member(before as Placed<Negation>, "condition"),
          member(after as Placed<Negation>, "condition"),
        );
      default:
        return compareLeaves(part, before as Placed<Leaf>, after as Placed<Leaf>);
    }
  };
}

/** Compares the numbers that two scores are made of. */
export const measures: Compare<Measure> = (part, before, after) =>
  identity(before!.item) === identity(after!.item)
    ? compareLeaves(part, before!, after!)
    : whole("measure", measureText)(part, before, after);

/** Compares the occurrences that two parts select, which are of the same event. */
export const filters: Compare<EventSelector> = (part, before, after) =>
  conditions(`filter of ${JSON.stringify(after!.item.event)}`)(part, member(before, "where"), member(after, "where"));

/** Conditions are paired where they are equal, then where they ask the same of something; what is left came or went. */
function compareGroups(part: ComparedPart, label: string, before: Placed<Group>, after: Placed<Group>): Change[] {
  const [older, newer] = [partsOf(before), partsOf(after)];
  const pairs = new Map<number, number>();
  pair(older, newer, canonicalJson, pairs);
  pair(older, newer, identity, pairs);
  const taken = new Set(pairs.values());
  const gone = older.filter((_, index) => !taken.has(index));
  const come = newer.filter((_, index) => !pairs.has(index));

  const found = newer.flatMap((one, index) => {
    const match = pairs.get(index);
    return match === undefined ? [] : conditions("condition")(part, older[match], one);
  });
  if (gone.length === 1 && come.length === 1) {
    found.push(...whole("condition", conditionText)(part, gone[0], come[0]));
  } else {
    for (const one of come)
      found.push(change("changed", part, undefined, one, `condition added: ${conditionText(one.item)}`));
    for (const one of gone)
      found.push(change("changed", part, one, undefined, `condition removed: ${conditionText(one.item)}`));
  }
  const matches = newer.flatMap((_, index) => pairs.get(index) ?? []);
  if (matches.some((match, index) => index > 0 && match < matches[index - 1]!)) {
    const message = `${label}: conditions in another order (the meaning is the same)`;
    found.push(change("changed", part, member(before, "conditions"), member(after, "conditions"), message));
  }
  return found;
}

function partsOf({ item, path }: Placed<Group>): Placed<AnyCondition>[] {
  return item.conditions.map((condition, index) => ({ item: condition, path: at(path, "conditions", index) }));
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
function compareLeaves(part: ComparedPart, before: Placed<Leaf>, after: Placed<Leaf>): Change[] {
  const names = new Set([...Object.keys(before.item), ...Object.keys(after.item)]);
  const differing = [...names].filter((name) => !same(valueOf(before, name)?.item, valueOf(after, name)?.item));
  const isCompared = differing.includes("operator") && differing.includes("value");
  const rest = isCompared ? differing.filter((name) => name !== "operator" && name !== "value") : differing;
  const compared = isCompared ? [change("changed", part, before, after, wholeText(before.item, after.item))] : [];
  const others = rest.flatMap((name) => {
    const [older, newer] = [valueOf(before, name), valueOf(after, name)];
    if (isSelector(older) && isSelector(newer)) return filters(part, older, newer);
    return [change("changed", part, older, newer, memberText(name, before.item, after.item))];
  });
  return [...compared, ...others];
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

function valueOf({ item, path }: Placed<Leaf>, name: string): Side<unknown> {
  return member({ item: item as unknown as Record<string, unknown>, path }, name);
}

function isSelector(side: Side<unknown>): side is Placed<EventSelector> {
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
