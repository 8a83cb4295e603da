import stringWidth from "string-width";

import type { Out } from "../../output/out.js";
import { distance, localTime, printable } from "../../output/text.js";

/** Why a condition holds or not, as the service explains it: a tree, as the condition is one. */
export interface ExplanationDocument {
  kind: string;
  text: string;
  expected: unknown;
  actual: unknown;
  met: boolean;
  missing: unknown;
  flipsAt: string | null;
  conditions?: ExplanationDocument[];
}

const INDENT = "  ";

/**
 * An explanation for people: a line per condition, its parts indented below it. What there is to say of a condition stands beside it, or below it where
 * the terminal is too narrow.
 */
export function explanationInWords(out: Out, explanation: ExplanationDocument, indent = INDENT): string {
  const { kind, text, met, conditions = [] } = explanation;
  const isGroup = explanation.conditions !== undefined;
  const said = isGroup ? groupInWords(kind, conditions) : printable(text);
  const facts = [...(isGroup ? [] : leafFacts(out, explanation)), ...flipInWords(out, explanation)];
  const mark = markOf(out, met);
  const line = `${indent}${mark.shown} ${said}`;
  const rest = facts.join("; ");
  const isBeside = indent.length + mark.width + 1 + stringWidth(`${said}  ${rest}`) <= out.columns;
  const beside = rest === "" ? "" : `  ${out.style.dim(rest)}`;
  const below = indent + " ".repeat(mark.width + 1);
  return [
    ...(isBeside ? [line + beside] : [line, ...facts.map((fact) => below + out.style.dim(fact))]),
    ...conditions.map((part) => explanationInWords(out, part, indent + INDENT)),
  ].join("\n");
}

/** Whether something holds: a sign in colour, or a word where there is none. */
export function markOf({ style }: Out, met: boolean): { shown: string; width: number } {
  if (style.isColorSupported) return { shown: met ? style.green("✓") : style.red("✗"), width: 1 };
  return { shown: met ? "met  " : "unmet", width: 5 };
}

function groupInWords(kind: string, conditions: readonly ExplanationDocument[]): string {
  if (kind === "not") return "not";
  const met = conditions.filter((part) => part.met).length;
  const holding = met === conditions.length ? "all are met" : met === 0 ? "none is met" : `${met} of them met`;
  return `${kind === "any" ? "any" : "all"} of ${conditions.length}, ${holding}`;
}

/** Kinds of which whether they are met says all. */
const OF_YES_OR_NO = new Set(["segment", "sequence"]);
/** Kinds that time alone makes true. */
const OF_WAITING = new Set(["inactiveFor", "inState"]);
/** Kinds whose actual values are instants. */
const OF_TIME = new Set(["inactiveFor", "activeWithin", "inState", "traitDateWithin", "traitDatePassed"]);

/** What there is, and what lacks where the text of the condition does not say so already. */
function leafFacts(out: Out, { kind, expected, actual, missing, met, flipsAt }: ExplanationDocument): string[] {
  if (OF_YES_OR_NO.has(kind)) return [];
  const now = actualInWords(out, kind, actual);
  // Where time alone lacks, it is told when that is over.
  const isToldAnyway =
    JSON.stringify(missing) === JSON.stringify(expected) || (OF_WAITING.has(kind) && flipsAt !== null);
  const lacks = met || isToldAnyway ? null : lackInWords(kind, missing);
  return [now, ...(lacks === null ? [] : [lacks])];
}

function actualInWords(out: Out, kind: string, actual: unknown): string {
  if (actual === null || (Array.isArray(actual) && actual.length === 0)) return "there is none";
  const iso =
    OF_TIME.has(kind) && typeof actual === "string" ? /\d{4}-\d\d-\d\dT[\d:.]+Z/.exec(actual)?.[0] : undefined;
  if (iso === undefined) return `it is ${valueInWords(actual)}`;
  const shown = `${localTime(iso, out.timeZone)} (${distance(iso, out.now)})`;
  const words = (actual as string).replace(iso, shown);
  return words === shown ? `it is ${shown}` : words;
}

/** What is to be added to a number, or what is to become true. */
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
export function valueInWords(value: unknown): string {
  if (Array.isArray(value)) return value.map(valueInWords).join(", ");
  return printable(typeof value === "string" ? value : JSON.stringify(value));
}

/** When it changes by time alone. What was explained some time ago may have changed since. */
function flipInWords(out: Out, { met, flipsAt }: ExplanationDocument): string[] {
  if (flipsAt === null) return [];
  const at = localTime(flipsAt, out.timeZone);
  if (Date.parse(flipsAt) < out.now) return [`was to ${met ? "end" : "come"} by itself at ${at}`];
  return [`${met ? "ends" : "comes"} by itself ${distance(flipsAt, out.now)} (${at})`];
}
