import { ApiError } from "../errors.js";
import { countJson, type ExceededLimit, type JsonLimits } from "./json-limits.js";

/**
 * Parses JSON, and reports a mistake and its place in messages that do not depend on the version of the JavaScript engine and quote at most one
 * character of the text. To find the mistake, a text that the engine's parser refused is scanned again, which is slower.
 */

/** What may come next, as the error message puts it. */
type Expected =
  | ("a value" | 'a value or "]"' | 'a property name or "}"' | "a property name")
  | ('":"' | '"," or "]"' | '"," or "}"' | "the end of the document");

const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const NEWLINE = 0x0a;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const FIRST_PRINTABLE = 0x20;

/** Throws MALFORMED_JSON for the first mistake of a text, with its line and column. It does not recurse, so any depth of nesting is fine. */
function refuseMistake(text: string): void {
  const open: string[] = [];
  let expected: Expected = "a value";
  for (let at = skipSpace(text, 0); ; at = skipSpace(text, at)) {
    const char = text[at];
    if (expected === "the end of the document" && char === undefined) return;
    const closes = (char === "]" || char === "}") && expected.endsWith(`or "${char}"`);
    if (closes) open.pop();
    if (closes || (expected.startsWith("a value") && char !== "[" && char !== "{")) {
      at = closes ? at + 1 : endOfScalar(text, at, expected);
      expected = open.length === 0 ? "the end of the document" : open.at(-1) === "[" ? '"," or "]"' : '"," or "}"';
    } else {
      const next = following(expected, char);
      if (next === null) throw unexpected(text, at, expected);
      if (char === "[" || char === "{") open.push(char);
      at = char === '"' ? endOfString(text, at) : at + 1;
      expected = next;
    }
  }
}

/** What must follow `char`, which opens, names or separates something; null if it is not allowed here. */
function following(expected: Expected, char: string | undefined): Expected | null {
  if (expected.startsWith("a value")) return char === "[" ? 'a value or "]"' : 'a property name or "}"';
  if (expected.startsWith("a property name")) return char === '"' ? '":"' : null;
  if (expected === '":"') return char === ":" ? "a value" : null;
  if (char !== "," || expected === "the end of the document") return null;
  return expected === '"," or "]"' ? "a value" : "a property name";
}

function endOfScalar(text: string, start: number, expected: Expected): number {
  if (text[start] === '"') return endOfString(text, start);
  SCALAR.lastIndex = start;
  if (!SCALAR.test(text)) throw unexpected(text, start, expected);
  return SCALAR.lastIndex;
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length;) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) return at + 1;
    if (unit < FIRST_PRINTABLE)
      throw malformed(`A string contains the control character ${shown(text, at)} at ${place(text, at)}.`);
    if (unit !== BACKSLASH) at += 1;
    else {
      ESCAPE.lastIndex = at;
      if (!ESCAPE.test(text))
        throw malformed(`A string contains an escape that is not valid in JSON at ${place(text, at)}.`);
      at = ESCAPE.lastIndex;
    }
  }
  throw malformed(`The string that begins at ${place(text, start)} has no end.`);
}

function skipSpace(text: string, start: number): number {
  for (let at = start; ; at++) {
    const unit = text.charCodeAt(at);
    if (unit !== 0x20 && unit !== NEWLINE && unit !== 0x0d && unit !== 0x09) return at;
  }
}

function unexpected(text: string, at: number, expected: Expected): ApiError {
  const found = at < text.length ? `found ${shown(text, at)}` : "the body ends";
  return malformed(`Expected ${expected}, but ${found} at ${place(text, at)}.`);
}

/** One character, or its code point if it is not visible. */
function shown(text: string, at: number): string {
  const char = String.fromCodePoint(text.codePointAt(at)!);
  if (/^[^\p{C}\p{Z}]$/u.test(char)) return `"${char}"`;
  return `U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** For example "line 3, column 14", both from 1. */
function place(text: string, at: number): string {
  let line = 1;
  let start = 0;
  for (let index = 0; index < at; index++) {
    if (text.charCodeAt(index) !== NEWLINE) continue;
    line += 1;
    start = index + 1;
  }
  return `line ${line}, column ${at - start + 1}`;
}

/** More than any accepted request needs, and little enough for the parser. */
export const PARSER_LIMITS: JsonLimits = {
  depthMax: 10_000,
  containersMax: 4_000_000,
  valuesMax: Infinity,
  membersMax: Infinity,
  itemsMax: Infinity,
  part: { depth: Infinity, valuesMax: Infinity, charactersMax: Infinity },
};

/**
 * Limits of what is parsed in the event loop: about ten milliseconds of work at most. Ordinary requests are far below; a batch of a thousand
 * events has about ten thousand values. A number whose length has to be determined takes ten times as long as another value.
 */
export const EVENT_LOOP_LIMITS = { bytesMax: 512 * 1024, valuesMax: 50_000, unusualNumbersMax: 5_000 };

/** Parses a JSON text. Throws MALFORMED_JSON with the mistake and its place, or the `limitRefusal` of an exceeded limit. */
export function parseJson(text: string, limits: JsonLimits = PARSER_LIMITS): unknown {
  const { exceeded } = countJson(text, limits);
  if (exceeded !== null) throw limitRefusal(exceeded, limits);
  return parseChecked(text);
}

/** The longest text that is scanned for its mistake: that takes up to a tenth of a second per mebibyte and blocks the event loop. */
const SCANNED_LENGTH_MAX = 4 * 1024 * 1024;

/** As `parseJson`, for a text that was already counted. */
export function parseChecked(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    if (text.trim() === "") throw malformed("The body is empty.");
    if (text.length <= SCANNED_LENGTH_MAX) refuseMistake(text);
    throw malformed("It cannot be parsed.");
  }
}

export function malformed(reason: string): ApiError {
  return new ApiError(400, "MALFORMED_JSON", { reason });
}

/** The refusal of a request that exceeds a limit. */
export function limitRefusal({ limit, path }: ExceededLimit, limits: JsonLimits): ApiError {
  const shownCount = (count: number) => count.toLocaleString("en-US");
  const tooLarge = (reason: string) => new ApiError(413, "PAYLOAD_TOO_LARGE", { reason });
  const invalid = (reason: string) =>
    new ApiError(400, "VALIDATION_ERROR", {
      message: path === "" ? "The body is too large." : `\`${path}\` is too large.`,
      field: path || undefined,
      reason,
      fix: "Send less, or keep large content elsewhere and send a reference to it.",
    });
  const { depthMax, containersMax, valuesMax, membersMax, itemsMax, part } = limits;
  if (limit === "depthMax") return malformed(`It is nested deeper than ${shownCount(depthMax)} levels.`);
  if (limit === "containersMax") return tooLarge(`It has more than ${shownCount(containersMax)} objects and arrays.`);
  if (limit === "valuesMax") return tooLarge(`It has more than ${shownCount(valuesMax)} values.`);
  if (limit === "membersMax") return invalid(`The body has more than ${shownCount(membersMax)} members.`);
  if (limit === "partCharactersMax") return invalid(`It has more than ${shownCount(part.charactersMax)} characters.`);
  return invalid(`It has more than ${shownCount(limit === "itemsMax" ? itemsMax : part.valuesMax)} values.`);
}

/** Decodes pieces of UTF-8. Throws the error of `refuse`, by default MALFORMED_JSON, if they are not valid. */
export function decodeText(pieces: readonly Uint8Array[], refuse = malformed): string {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  try {
    // In stream mode, Node.js decodes at a fifth of the speed.
    if (pieces.length === 1) return decoder.decode(pieces[0]);
    return pieces.map((piece) => decoder.decode(piece, { stream: true })).join("") + decoder.decode();
  } catch {
    throw refuse("The body is not valid UTF-8.");
  }
}
