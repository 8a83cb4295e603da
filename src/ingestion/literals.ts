/**
 * Finds values that JSON allows and the database does not: U+0000 and lone surrogates in text, numbers outside the range of a double or with very
 * many decimal places. They are found here so that the error can name the literal. This costs a scan for rare escapes and numbers; only a text
 * with such a match is examined further.
 */
import { shownName } from "./shape-problem.js";
import { unusualNumbers } from "./unusual-numbers.js";

const SUSPICIOUS_ESCAPE = /\\u(?:0000|[dD][89a-fA-F])/;
/** An exponent of three digits; one of two digits exceeds the range only after about two hundred digits. */
const SUSPICIOUS_NUMBER = /\d[eE][+-]?0*[1-9]\d\d|\d{200}/;
const EXPONENT_MAX = 324;
const SHOWN_MAX = 40;
export const OUT_OF_RANGE = "The number is outside the range of a double (about 5e-324 to 1.8e308).";
/** The most decimal places that the database can store. */
const PLACES_MAX = 16_383;

/** What precedes an escape: a backslash begins an escape if it follows an even number of backslashes. */
const EVEN = String.raw`(?<!\\)(?:\\\\)*`;
const FIRST_HALF = String.raw`\\u[dD][89abAB][\da-fA-F]{2}`;
const SECOND_HALF = String.raw`\\u[dD][c-fC-F][\da-fA-F]{2}`;
/** A single expression that does not stop at valid pairs, of which a body can have millions. */
const BAD_ESCAPE = new RegExp(
  String.raw`(?:\\u0000|${FIRST_HALF}(?!${SECOND_HALF})|(?<!${EVEN}${FIRST_HALF})${SECOND_HALF})(?<=${EVEN}.{6})`,
);

interface BadLiteral {
  /** Its beginning, short enough to be shown. */
  literal: string;
  /** Its index in the text. */
  at: number;
  length: number;
  reason: string;
}

/** A literal of a valid JSON text that cannot be stored exactly; null if there is none. */
export function findBadLiteral(json: string): BadLiteral | null {
  return badEscape(json) ?? (SUSPICIOUS_NUMBER.test(json) ? badNumber(json) : null);
}

/** Backslashes occur only in strings, so the text need not be parsed. */
function badEscape(json: string): BadLiteral | null {
  if (!SUSPICIOUS_ESCAPE.test(json)) return null;
  const match = BAD_ESCAPE.exec(json);
  if (match === null) return null;
  const [literal] = match;
  return {
    literal,
    at: match.index,
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
  // A number with a digit other than zero that parses as zero is too small. The database stores the places of a zero: 0e-16383 has 16,383.
  const isTooSmall = value === 0 && (/[1-9]/.test(digits) || Math.abs(Number(exponent)) > EXPONENT_MAX);
  if (!Number.isFinite(value) || isTooSmall) {
    return OUT_OF_RANGE;
  }
  const places = (digits.split(".")[1] ?? "").length - Number(exponent);
  return places > PLACES_MAX ? "The number has more than 16,383 digits after the point." : null;
}

const PLAIN_NAME = /^[A-Za-z_$][A-Za-z0-9_$]*$/;

/**
 * The path of the value or name that contains a literal of a valid JSON text; undefined if a later member of the same name hides it. The text is
 * parsed again with a mark in place of the literal.
 */
export function placeOfLiteral(text: string, { literal, at, length }: BadLiteral): string | undefined {
  // Nothing else in the text is likely to equal the mark.
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
