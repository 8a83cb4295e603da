import { canonicalJson } from "../snapshot/canonical.js";
import type { Change, Compare, ComparedPart, Side } from "./change.js";
import { change, memberSide, same, compareWhole } from "./change.js";
import { at, type Placed } from "../snapshot/problem.js";
import type { Condition, EventSelector, Measure, OccurrenceScope, PropertyCondition } from "../snapshot/types.js";
import type { Comparison } from "../snapshot/words.js";
import { comparedText, conditionText, isCalculated, measureText, sinceText, unscopedText } from "../snapshot/words.js";

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
export function compareConditions(label: string): Compare<AnyCondition> {
  return (part, before, after) => {
    if (same(before?.item, after?.item)) return [];
    if (before === undefined || after === undefined || identity(before.item) !== identity(after.item))
      return compareWhole(label, conditionText)(part, before, after);
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

/** Compares the numbers that two scores are made of. */
export const measures: Compare<Measure> = (part, before, after) =>
  identity(before!.item) === identity(after!.item)
    ? compareLeaves(part, before!, after!)
    : compareWhole("measure", measureText)(part, before, after);

/** Compares the occurrences that two parts select, which are of the same event. */
export const filters: Compare<EventSelector> = (part, before, after) =>
  compareConditions(`filter of ${JSON.stringify(after!.item.event)}`)(
    part,
    memberSide(before, "where"),
    memberSide(after, "where"),
  );

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
    return match === undefined ? [] : compareConditions("condition")(part, older[match], one);
  });
  if (gone.length === 1 && come.length === 1) {
    found.push(...compareWhole("condition", conditionText)(part, gone[0], come[0]));
  } else {
    const told = (one: Placed<AnyCondition>, what: string) => `condition ${what}: ${conditionText(one.item)}`;
    for (const one of come) found.push(change("changed", part, undefined, one, told(one, "added")));
    for (const one of gone) found.push(change("changed", part, one, undefined, told(one, "removed")));
  }
  const matches = newer.flatMap((_, index) => pairs.get(index) ?? []);
  if (matches.some((match, index) => index > 0 && match < matches[index - 1]!)) {
    const message = `${label}: conditions in another order (the meaning is the same)`;
    found.push(change("changed", part, memberSide(before, "conditions"), memberSide(after, "conditions"), message));
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
    const key = keyOf(item);
    if (!taken.has(index)) free.set(key, [...(free.get(key) ?? []), index]);
  });
  newer.forEach(({ item }, index) => {
    const match = pairs.has(index) ? undefined : free.get(keyOf(item))?.shift();
    if (match !== undefined) pairs.set(index, match);
  });
}

/** What a condition or a measure asks of what, without how much, how often and when: equal for two that are one, changed. */
function identity(leaf: AnyCondition | Measure): string {
  if (isCalculated(leaf)) {
    return canonicalJson([leaf.kind, identity(leaf.of), identity(leaf.kind === "ratio" ? leaf.per : leaf.minus)]);
  }
  const members = "conditions" in leaf || "condition" in leaf ? [] : (ABOUT[leaf.kind] ?? []);
  const about = members.map((name) => (leaf as unknown as Record<string, string | EventSelector | undefined>)[name]);
  const before = "previous" in leaf ? ["previous"] : [];
  return canonicalJson([
    leaf.kind,
    ...before,
    ...about.map((one) => (typeof one === "object" ? one.event : (one ?? null))),
  ]);
}

/** The members that say so; of what is not here, its kind says it all. */
const ABOUT: { readonly [K in Leaf["kind"]]?: readonly (keyof Extract<Leaf, { kind: K }>)[] } = {
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
    if (isOperand(older) && isOperand(newer)) return measures(part, older, newer);
    return [change("changed", part, older, newer, memberText(name, before.item, after.item))];
  });
  return [...compared, ...others];
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

/** Whether it may have a window or a start; that of a sequence is another matter. */
function isScoped(leaf: Leaf): leaf is Exclude<Extract<Leaf, { of: EventSelector }>, { kind: "daysSince" }> {
  return "of" in leaf && leaf.kind !== "daysSince" && !isCalculated(leaf);
}

function startText({ since }: OccurrenceScope): string {
  return since === undefined ? "none" : sinceText(since);
}

const MEASURES: Leaf["kind"][] = ["count", "aggregate", "distinct", "latest", "daysSince", "trait"];

/** A measure is a comparison without what it is compared with. */
function leafText(leaf: Leaf): string {
  const isMeasure = (MEASURES.includes(leaf.kind) || isCalculated(leaf)) && !("operator" in leaf);
  return isMeasure ? measureText(leaf as Measure) : conditionText(leaf as Condition);
}
