/**
 * What JSON allows and the database does not: U+0000 and lone surrogates in text, numbers beyond the range of a double or with very many
 * places. Each is told apart here, where the error can name the literal. Looking for them costs a scan for rare escapes and numbers; only
 * a text that has such is taken apart.
 */
import { shownName } from "./shape-problem.js";
import { unusualNumbers } from "./unusual-numbers.js";

const SUSPICIOUS_ESCAPE = /\\u(?:0000|[dD][89a-fA-F])/;
/** An exponent of three digits; one of two leads out of the range only with some two hundred digits before it. */
const SUSPICIOUS_NUMBER = /\d[eE][+-]?0*[1-9]\d\d|\d{200}/;
const EXPONENT_MAX = 324;
const SHOWN_MAX = 40;
export const OUT_OF_RANGE = "The number is outside the range of a double (about 5e-324 to 1.8e308).";
/** What the database keeps of a number. */
const PLACES_MAX = 16_383;

/** In front of an escape: a backslash is one's beginning where an even number of backslashes stands before it. */
const EVEN = String.raw`(?<!\\)(?:\\\\)*`;
const FIRST_HALF = String.raw`\\u[dD][89abAB][\da-fA-F]{2}`;
const SECOND_HALF = String.raw`\\u[dD][c-fC-F][\da-fA-F]{2}`;
/** One expression that takes no steps for what is right: a body may hold millions of pairs. */
const BAD_ESCAPE = new RegExp(
  String.raw`(?:\\u0000|${FIRST_HALF}(?!${SECOND_HALF})|(?<!${EVEN}${FIRST_HALF})${SECOND_HALF})(?<=${EVEN}.{6})`,
);

interface BadLiteral {
  /** Its beginning, short enough to be shown. */
  literal: string;
  /** Where it stands in the text. */
  at: number;
  length: number;
  reason: string;
}

/** A literal of a valid JSON text that cannot be stored exactly; null where there is none. */
export function findBadLiteral(json: string): BadLiteral | null {
  return badEscape(json) ?? (SUSPICIOUS_NUMBER.test(json) ? badNumber(json) : null);
}

/** Backslashes stand in strings only, so the text needs no taking apart. */
function badEscape(json: string): BadLiteral | null {
  if (!SUSPICIOUS_ESCAPE.test(json)) return null;
  const found = BAD_ESCAPE.exec(json);
  if (found === null) return null;
  const [literal] = found;
  return {
    literal,
    at: found.index,
    length: literal.length,
    reason:
      literal === "\\u0000"
        ? "The character U+0000 cannot be stored in text."
        : "The escape is half of a surrogate pair without the other half.",
  };
}

function badNumber(json: string): BadLiteral | null {
  for (const [start, end] of unusualNumbers(json)) {
    const token = json.slice(start, end);
    const reason = reasonAgainst(token);
    if (reason !== null) return { literal: token.slice(0, SHOWN_MAX), at: start, length: token.length, reason };
  }
  return null;
}

function reasonAgainst(token: string): string | null {
  const value = Number(token);
  if (value !== 0 && Number.isFinite(value) && token.length < PLACES_MAX - EXPONENT_MAX) return null;
  const [digits = "", exponent = "0"] = token.split(/[eE]/);
  // What has a digit other than zero and reads as zero is too small. The database keeps the places of a zero: 0e-16383 has as many.
  const vanished = value === 0 && (/[1-9]/.test(digits) || Math.abs(Number(exponent)) > EXPONENT_MAX);
  if (!Number.isFinite(value) || vanished) {
    return OUT_OF_RANGE;
  }
  const places = (digits.split(".")[1] ?? "").length - Number(exponent);
  return places > PLACES_MAX ? "The number has more than 16,383 digits after the point." : null;
}

const PLAIN_NAME = /^[A-Za-z_$][A-Za-z0-9_$]*$/;

/**
 * The path of the value, or of the name, in which a literal of a valid JSON text stands; undefined where a later member of the same name
 * hides it. The text is read once more with a mark in the literal's place.
 */
export function placeOfLiteral(text: string, { literal, at, length }: BadLiteral): string | undefined {
  // Nothing else in the text is of this length and repeats it.
  const mark = `${"mark ".repeat(4)}${at}`;
  const isEscape = literal.startsWith("\\");
  const marked = text.slice(0, at) + (isEscape ? mark : JSON.stringify(mark)) + text.slice(at + length);
  return find(JSON.parse(marked), "", (name) => name.includes(mark)) ?? undefined;
}

function find(value: unknown, path: string, isMarked: (text: string) => boolean): string | null {
  if (typeof value === "string") return isMarked(value) ? path : null;
  if (typeof value !== "object" || value === null) return null;
  for (const [name, member] of Object.entries(value)) {
    if (isMarked(name)) return path;
    const found = find(member, memberPath(path, name, Array.isArray(value)), isMarked);
    if (found !== null) return found;
  }
  return null;
}

function memberPath(path: string, name: string, isItem: boolean): string {
  if (isItem) return `${path}[${name}]`;
  if (!PLAIN_NAME.test(name)) return `${path}[${JSON.stringify(shownName(name))}]`;
  return path === "" ? shownName(name) : `${path}.${shownName(name)}`;
}
