import type { OperandValue } from "../engine/compile-context.js";
import type { Explanation } from "../engine/conditions/leaf.js";
import { printable } from "./text.js";

/** The explanation of a customer's state: each part of the model with the conditions that are evaluated at present. */
export interface ExplainedParts {
  lifecycle: { state: string | null; transitions: { to: string; condition: Explanation }[] } | null;
  journeys: {
    journey: string;
    status: string;
    /** Null while a run is active, and if the journey has run and does not repeat. */
    start: Explanation | null;
    steps: { step: string; completed: boolean; condition: Explanation | null }[];
  }[];
  segments: { segment: string; member: boolean; condition: Explanation | null }[];
  health: {
    overall: number | null;
    band: string | null;
    components: {
      component: string;
      weight: number;
      /** Null if it is left out of the mean, because its measure has no value. */
      score: number | null;
      measure: OperandValue;
    }[];
  } | null;
  signals: { signal: string; raised: boolean; severity: string; condition: Explanation | null }[];
}

/** How instants are shown: as dates, and as distances from now. */
export interface InstantWords {
  now: number;
  at(iso: string): string;
  ago(iso: string): string;
}

/** The facts about a condition besides its text: the actual value, what is missing, and when it changes by time alone. */
export function factsOf(words: InstantWords, explanation: Explanation): string[] {
  const isGroup = explanation.conditions !== undefined;
  return [...(isGroup ? [] : leafFacts(words, explanation)), ...flipInWords(words, explanation)];
}

/** Describes a group of conditions, such as `all of 3, 2 of them met`. */
export function groupInWords(kind: string, conditions: readonly Explanation[]): string {
  if (kind === "not") return "not";
  const met = conditions.filter((part) => part.met).length;
  const holding = met === conditions.length ? "all are met" : met === 0 ? "none is met" : `${met} of them met`;
  return `${kind === "any" ? "any" : "all"} of ${conditions.length}, ${holding}`;
}

/** Kinds about which there is nothing to say except whether they are met. */
const OF_YES_OR_NO = new Set(["segment", "sequence"]);
/** Kinds that time alone makes true. */
const OF_WAITING = new Set(["inactiveFor", "inState"]);
/** Kinds whose actual values are instants. */
const OF_TIME = new Set(["inactiveFor", "activeWithin", "inState", "traitDateWithin", "traitDatePassed"]);

/** The actual value, and what is missing, unless the text of the condition says so already. */
function leafFacts(words: InstantWords, explanation: Explanation): string[] {
  const { kind, expected, actual, missing, met, flipsAt } = explanation;
  if (OF_YES_OR_NO.has(kind)) return [];
  const now = actualInWords(words, kind, actual) + operandsInWords(explanation);
  // If only time is missing, `flipInWords` says when the condition will be met.
  const isRedundant =
    JSON.stringify(missing) === JSON.stringify(expected) || (OF_WAITING.has(kind) && flipsAt !== null);
  const lacks = met || isRedundant ? null : lackInWords(kind, missing);
  return lacks === null ? [now] : [now, lacks];
}

function actualInWords(words: InstantWords, kind: string, actual: unknown): string {
  if (actual === null || (Array.isArray(actual) && actual.length === 0)) return "there is none";
  const text = OF_TIME.has(kind) && typeof actual === "string" ? actual : "";
  const iso = /\d{4}-\d\d-\d\dT[\d:.]+Z/.exec(text)?.[0];
  if (iso === undefined) return `it is ${valueInWords(actual)}`;
  // The date of a trait is mostly a day. For the engine it begins in UTC, but people do not think of a zone.
  const isDay = kind.startsWith("traitDate") && iso.endsWith("T00:00:00.000Z");
  const shown = `${isDay ? iso.slice(0, 10) : words.at(iso)} (${words.ago(iso)})`;
  const sentence = text.replace(iso, shown);
  return sentence === shown ? `it is ${shown}` : sentence;
}

/** The value of a measure: `nothing`, `0.5 (of 3 and 6)`. */
export function measuredInWords(measure: OperandValue): string {
  return (measure.actual === null ? "nothing" : valueInWords(measure.actual)) + operandsInWords(measure);
}

/** The numbers from which a ratio or a difference is computed, in the order of its text. */
function operandsInWords({ operands }: Pick<OperandValue, "operands">): string {
  if (operands === undefined) return "";
  return ` (of ${operands.map(({ actual }) => (actual === null ? "nothing" : valueInWords(actual))).join(" and ")})`;
}

/** What has to be added to a number, or has to become true. */
function lackInWords(kind: string, missing: unknown): string | null {
  const above = kind === "count" || kind === "distinct" ? "too many" : "too high";
  if (typeof missing === "number") return missing < 0 ? `${-missing} ${above}` : `${missing} more needed`;
  if (typeof missing !== "string") return null;
  const [, bound, amount = ""] = /^(less|more) than (-?[\d.]+)$/.exec(missing) ?? [];
  if (bound === undefined) return `lacks ${printable(missing)}`;
  if (Number(amount) === 0) return `has to be ${bound === "more" ? "higher" : "lower"}`;
  return bound === "more" ? `more than ${amount} more needed` : `more than ${-Number(amount)} ${above}`;
}

/** A value of an explanation: texts as they are, lists by their elements. */
function valueInWords(value: unknown): string {
  if (Array.isArray(value)) return value.map(valueInWords).join(", ");
  return printable(typeof value === "string" ? value : JSON.stringify(value));
}

/** When a condition changes by time alone. For an older explanation that may already have happened. */
function flipInWords(words: InstantWords, { met, flipsAt }: Explanation): string[] {
  if (flipsAt === null) return [];
  const at = words.at(flipsAt);
  if (Date.parse(flipsAt) < words.now) return [`was to ${met ? "end" : "come"} by itself at ${at}`];
  return [`${met ? "ends" : "comes"} by itself ${words.ago(flipsAt)} (${at})`];
}
