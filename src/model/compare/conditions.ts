import { canonicalJson } from "../snapshot/canonical.js";
import type { Change, Compare, ComparedPart, Side } from "./change.js";
import { change, memberSide, same, compareAsText } from "./change.js";
import { at, type Placed } from "../snapshot/problem.js";
import type { Condition, EventSelector, Measure, OccurrenceScope, PropertyCondition } from "../snapshot/types.js";
import type { Comparison } from "../snapshot/words.js";
import { comparedText, conditionText, isCalculated, measureText, sinceText, unscopedText } from "../snapshot/words.js";

type AnyCondition = Condition | PropertyCondition;
type Group = Extract<AnyCondition, { kind: "all" | "any" }>;
type Negation = Extract<AnyCondition, { kind: "not" }>;
/** A condition that contains no others, or a measure. */
type Leaf = Exclude<AnyCondition, Group | Negation> | Measure;

/**
 * Compares the conditions of a part in as much detail as possible: if both ask the same question, only the threshold, the window or the
 * filter; for groups, the conditions that were added and removed; otherwise the conditions as a whole.
 *
 * @param label the name of the condition in the part, for example `when`.
 */
export function compareConditions(label: string): Compare<AnyCondition> {
  return (part, before, after) => {
    if (same(before?.item, after?.item)) return [];
    if (before === undefined || after === undefined || identity(before.item) !== identity(after.item))
      return compareAsText(label, conditionText)(part, before, after);
    switch (after.item.kind) {
      case "all":
      case "any":
        return compareGroups(part, label, before as Placed<Group>, after as Placed<Group>);
      case "not": {
        const [was, is] = [before, after].map((side) => memberSide(side as Placed<Negation>, "condition"));
        return compareConditions(label)(part, was, is);
      }
      default:
        return compareLeaves(part, before as Placed<Leaf>, after as Placed<Leaf>);
    }
  };
}

/** Compares the measures of two scores. */
export const measures: Compare<Measure> = (part, before, after) =>
  identity(before!.item) === identity(after!.item)
    ? compareLeaves(part, before!, after!)
    : compareAsText("measure", measureText)(part, before, after);

/** Compares the filters of two selectors of the same event. */
export const filters: Compare<EventSelector> = (part, before, after) =>
  compareConditions(`filter of ${JSON.stringify(after!.item.event)}`)(
    part,
    memberSide(before, "where"),
    memberSide(after, "where"),
  );

/** Pairs conditions that are equal, then those that ask the same question; the others were added or removed. */
function compareGroups(part: ComparedPart, label: string, before: Placed<Group>, after: Placed<Group>): Change[] {
  const [older, newer] = [partsOf(before), partsOf(after)];
  const pairs = new Map<number, number>();
  pair(older, newer, canonicalJson, pairs);
  pair(older, newer, identity, pairs);
  const taken = new Set(pairs.values());
  const removed = older.filter((_, index) => !taken.has(index));
  const added = newer.filter((_, index) => !pairs.has(index));

  const changes = newer.flatMap((one, index) => {
    const match = pairs.get(index);
    return match === undefined ? [] : compareConditions("condition")(part, older[match], one);
  });
  if (removed.length === 1 && added.length === 1) {
    changes.push(...compareAsText("condition", conditionText)(part, removed[0], added[0]));
  } else {
    const message = (one: Placed<AnyCondition>, what: string) => `condition ${what}: ${conditionText(one.item)}`;
    for (const one of added) changes.push(change("changed", part, undefined, one, message(one, "added")));
    for (const one of removed) changes.push(change("changed", part, one, undefined, message(one, "removed")));
  }
  const matches = newer.flatMap((_, index) => pairs.get(index) ?? []);
  if (matches.some((match, index) => index > 0 && match < matches[index - 1]!)) {
    const message = `${label}: conditions in another order (the meaning is the same)`;
    changes.push(change("changed", part, memberSide(before, "conditions"), memberSide(after, "conditions"), message));
  }
  return changes;
}

function partsOf({ item, path }: Placed<Group>): Placed<AnyCondition>[] {
  return item.conditions.map((condition, index) => ({ item: condition, path: at(path, "conditions", index) }));
}

/** Pairs conditions that have the same key and no pair yet, in order. `pairs` maps newer indexes to older ones. */
function pair(
  older: readonly Placed<AnyCondition>[],
  newer: readonly Placed<AnyCondition>[],
  keyOf: (condition: AnyCondition) => string,
  pairs: Map<number, number>,
): void {
  const taken = new Set(pairs.values());
  const free = new Map<string, number[]>();
  older.forEach(({ item }, index) => {
    const key = keyOf(item);
    if (!taken.has(index)) free.set(key, [...(free.get(key) ?? []), index]);
  });
  newer.forEach(({ item }, index) => {
    const match = pairs.has(index) ? undefined : free.get(keyOf(item))?.shift();
    if (match !== undefined) pairs.set(index, match);
  });
}

/** The question of a condition or a measure, without thresholds, windows and filters: two with the same identity count as one that changed. */
function identity(leaf: AnyCondition | Measure): string {
  if (isCalculated(leaf)) {
    return canonicalJson([leaf.kind, identity(leaf.of), identity(leaf.kind === "ratio" ? leaf.per : leaf.minus)]);
  }
  const members = "conditions" in leaf || "condition" in leaf ? [] : (IDENTIFYING[leaf.kind] ?? []);
  const values = members.map((name) => (leaf as unknown as Record<string, string | EventSelector | undefined>)[name]);
  const previous = "previous" in leaf ? ["previous"] : [];
  return canonicalJson([
    leaf.kind,
    ...previous,
    ...values.map((one) => (typeof one === "object" ? one.event : (one ?? null))),
  ]);
}

/** The members that identify a question; for kinds that are not listed, the kind alone does. */
const IDENTIFYING: { readonly [K in Leaf["kind"]]?: readonly (keyof Extract<Leaf, { kind: K }>)[] } = {
  count: ["of"],
  aggregate: ["function", "of", "property"],
  distinct: ["of", "property"],
  latest: ["of", "property"],
  latestExists: ["of", "property"],
  daysSince: ["which", "of"],
  sequence: ["first", "then"],
  compare: ["property"],
  exists: ["property"],
  trait: ["trait"],
  traitExists: ["trait"],
  traitDateWithin: ["trait"],
  traitDatePassed: ["trait"],
  segment: ["segment"],
  journey: ["journey"],
  journeyStep: ["journey", "step"],
  health: ["component"],
};

/** Compares two leaves of the same identity, member by member. If both operator and value differ, that is one change. */
function compareLeaves(part: ComparedPart, before: Placed<Leaf>, after: Placed<Leaf>): Change[] {
  const names = new Set([...Object.keys(before.item), ...Object.keys(after.item)]);
  const differing = [...names].filter((name) => !same(valueOf(before, name)?.item, valueOf(after, name)?.item));
  const bothDiffer = differing.includes("operator") && differing.includes("value");
  const rest = bothDiffer ? differing.filter((name) => name !== "operator" && name !== "value") : differing;
  const comparison = bothDiffer ? [change("changed", part, before, after, wholeText(before.item, after.item))] : [];
  const others = rest.flatMap((name) => {
    const [older, newer] = [valueOf(before, name), valueOf(after, name)];
    if (isSelector(older) && isSelector(newer)) return filters(part, older, newer);
    if (isOperand(older) && isOperand(newer)) return measures(part, older, newer);
    return [change("changed", part, older, newer, memberText(name, before.item, after.item))];
  });
  return [...comparison, ...others];
}

function memberText(name: string, before: Leaf, after: Leaf): string {
  if (name === "value" && isOrder(before) && isOrder(after)) {
    return `threshold of ${comparedText(after)}: ${String(before.value)} → ${String(after.value)}`;
  }
  if (isScoped(before) && isScoped(after)) {
    const what = unscopedText(after.kind === "latestExists" ? { ...after, kind: "latest" } : after);
    if (name === "within") return `window of ${what}: ${before.within ?? "none"} → ${after.within ?? "none"}`;
    if (name === "since") return `start of ${what}: ${startText(before)} → ${startText(after)}`;
  }
  return wholeText(before, after);
}

function wholeText(before: Leaf, after: Leaf): string {
  return `${leafText(before)} → ${leafText(after)}`;
}

function valueOf({ item, path }: Placed<Leaf>, name: string): Side<unknown> {
  return memberSide({ item: item as unknown as Record<string, unknown>, path }, name);
}

function isSelector(side: Side<unknown>): side is Placed<EventSelector> {
  return typeof side?.item === "object" && "event" in side.item!;
}

function isOperand(side: Side<unknown>): side is Placed<Measure> {
  return typeof side?.item === "object" && "kind" in side.item!;
}

function isOrder(leaf: Leaf): leaf is Comparison {
  return "operator" in leaf && ["lt", "lte", "gt", "gte"].includes(leaf.operator);
}

/** Whether a leaf may have a window or a start. A sequence is not included: its `within` has another meaning. */
function isScoped(leaf: Leaf): leaf is Exclude<Extract<Leaf, { of: EventSelector }>, { kind: "daysSince" }> {
  return "of" in leaf && leaf.kind !== "daysSince" && !isCalculated(leaf);
}

function startText({ since }: OccurrenceScope): string {
  return since === undefined ? "none" : sinceText(since);
}

const MEASURES: Leaf["kind"][] = ["count", "aggregate", "distinct", "latest", "daysSince", "trait"];

/** The text of a condition or a measure. A leaf of a measure's kind without an operator is a measure. */
function leafText(leaf: Leaf): string {
  const isMeasure = (MEASURES.includes(leaf.kind) || isCalculated(leaf)) && !("operator" in leaf);
  return isMeasure ? measureText(leaf as Measure) : conditionText(leaf as Condition);
}
