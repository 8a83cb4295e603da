import { canonicalJson } from "../snapshot/canonical.js";
import { parseDuration } from "../snapshot/duration.js";
import { conflict, type Fact, rangeOf, said } from "./facts.js";
import { factsOf, type FieldTypes, type ConditionLeaf } from "./facts-of-condition.js";
import { quote } from "../snapshot/problem.js";
import type { Condition, EventSelector, PropertyCondition } from "../snapshot/types.js";

type Node = Condition | PropertyCondition;

/** What a condition stands in. */
export interface Circumstances {
  types: FieldTypes;
  /** Whose properties are spoken of, where the condition is one on properties. */
  event?: string;
  /** What is the case whenever the condition is asked for. */
  known?: readonly { condition: Condition; holds: boolean }[];
  /** How many days ago an occurrence can be at most that counts in a journey's step. */
  daysMost?: number;
}

/** A condition without others in it, that holds or does not. */
interface Literal {
  leaf: ConditionLeaf;
  holds: boolean;
  key: string;
  facts: Fact[];
  /** Why no event fits the filter, where it needs one that does. */
  unfit: string | null;
}

/** More are not compared, and more branches not looked at: what is certain is found in small conditions, and nobody waits for the rest. */
const LITERALS_MAX = 50;
const BRANCHES_MAX = 200;

/**
 * Why a condition can never hold, whatever happens; null where it may. Says so only where it is certain, so null is no proof that it
 * ever will. The condition must be sound.
 */
export function contradiction(condition: Node, circumstances: Circumstances): string | null {
  const known = (circumstances.known ?? []).map(({ condition: leaf, holds }) =>
    literal(leaf as ConditionLeaf, holds, circumstances),
  );
  return whyNot(condition, known, { ...circumstances, branchesLeft: BRANCHES_MAX });
}

interface Search extends Circumstances {
  branchesLeft: number;
}

function whyNot(node: Node, known: Literal[], search: Search): string | null {
  if (search.branchesLeft-- <= 0) return null;
  const literals = [...known];
  const choices: Node[][] = [];
  gather(node, true, literals, choices, search);
  if (literals.length > LITERALS_MAX) return null;
  const conflict = conflictOf(literals);
  if (conflict !== null) return conflict;
  for (const choice of choices) {
    const reason = whyNone(choice, literals, search);
    if (reason !== null) return reason;
  }
  return null;
}

/** Why none of several conditions can hold. */
function whyNone(choice: Node[], known: Literal[], search: Search): string | null {
  let first: string | null = null;
  for (const part of choice) {
    const reason = whyNot(part, known, search);
    if (reason === null) return null;
    first ??= reason;
  }
  return first;
}

/** Everything that must hold together, and the choices in it. */
function gather(
  node: Node,
  holds: boolean,
  literals: Literal[],
  choices: Node[][],
  circumstances: Circumstances,
): void {
  if (node.kind === "not") {
    gather(node.condition, !holds, literals, choices, circumstances);
  } else if (node.kind !== "all" && node.kind !== "any") {
    literals.push(literal(node as ConditionLeaf, holds, circumstances));
  } else if ((node.kind === "all") === holds) {
    for (const part of node.conditions) gather(part, holds, literals, choices, circumstances);
  } else {
    choices.push(holds ? node.conditions : node.conditions.map((condition) => ({ kind: "not", condition }) as Node));
  }
}

function literal(leaf: ConditionLeaf, holds: boolean, { types, event, daysMost }: Circumstances): Literal {
  return {
    leaf,
    holds,
    key: canonicalJson(leaf),
    facts: factsOf(leaf, holds, types, event ?? "", daysMost),
    unfit: holds ? unfitFilter(leaf, types) : null,
  };
}

function conflictOf(literals: Literal[]): string | null {
  const held = new Map<string, boolean>();
  const bySubject = new Map<string, Fact[]>();
  for (const { key, holds, facts, unfit } of literals) {
    if (unfit !== null) return unfit;
    if (held.get(key) === !holds) return "it asks for something and for its opposite";
    held.set(key, holds);
    for (const fact of facts) {
      const others = bySubject.get(fact.subject.key);
      if (others) others.push(fact);
      else bySubject.set(fact.subject.key, [fact]);
    }
  }
  for (const facts of bySubject.values()) {
    const reason = conflict(facts);
    if (reason !== null) return reason;
  }
  return windowConflict(literals);
}

function unfitFilter(leaf: ConditionLeaf, types: FieldTypes): string | null {
  if (leaf.kind === "sequence") return noEvent(leaf.first, types) ?? noEvent(leaf.then, types);
  if (!("of" in leaf) || leaf.of.where === undefined) return null;
  // What is also true of no occurrence needs none.
  if ("operator" in leaf && (leaf.operator === "ne" || leaf.operator === "notIn")) return null;
  if (leaf.kind === "aggregate" && leaf.function === "sum") return null;
  if (leaf.kind === "count" || leaf.kind === "distinct") {
    if (leaf.operator !== "gt" && (leaf.value === 0 || !["eq", "gte"].includes(leaf.operator))) return null;
  }
  return noEvent(leaf.of, types);
}

function noEvent({ event, where }: EventSelector, types: FieldTypes): string | null {
  const reason = where ? contradiction(where, { types, event }) : null;
  return reason === null ? null : `no event ${quote(event)} fits the filter: ${reason}`;
}

interface Window {
  facts: Fact[];
  /** In the author's words; undefined for ever. */
  within: string | undefined;
  length: number;
}

/** What is in a window is also in a longer one, so there are at least as many in that. */
function windowConflict(literals: Literal[]): string | null {
  const families = new Map<string, Map<string, Window>>();
  for (const { leaf, facts } of literals) {
    if ((leaf.kind !== "count" && leaf.kind !== "distinct") || leaf.since !== undefined) continue;
    const property = leaf.kind === "distinct" ? leaf.property : undefined;
    const family = canonicalJson({ kind: leaf.kind, of: leaf.of, property });
    const windows = families.get(family) ?? new Map<string, Window>();
    families.set(family, windows);
    const { within } = leaf;
    const length = within === undefined ? Infinity : parseDuration(within);
    const window = windows.get(String(length)) ?? { facts: [], within, length };
    windows.set(String(length), window);
    window.facts.push(...facts);
  }
  for (const windows of families.values()) {
    const ascending = [...windows.values()].sort((a, b) => a.length - b.length);
    for (const [index, narrow] of ascending.entries()) {
      for (const wide of ascending.slice(index + 1)) {
        if (rangeOf(narrow.facts).low.at <= rangeOf(wide.facts).high.at) continue;
        return `there are never ${spoken(narrow)} and ${spoken(wide)}`;
      }
    }
  }
  return null;
}

function spoken({ facts, within }: Window): string {
  return `${facts.map(said).join(" and ")} ${within === undefined ? "in all" : `within ${quote(within)}`}`;
}
