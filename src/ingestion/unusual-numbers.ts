import { randomBytes } from "node:crypto";

const BACKSLASH = 0x5c;

/** The index of the quote that ends the string whose first quote is at `start`; beyond the end of the text if there is none. */
export function closingQuote(json: string, start: number): number {
  let at = start + 1;
  for (; at < json.length; at++) {
    const unit = json.charCodeAt(at);
    if (unit === BACKSLASH) at++;
    else if (unit === 0x22) break;
  }
  return at;
}

const LENGTH_USUAL_MAX = 23;
const PARTS = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/** How the strings begin that replace numbers in the result of `withLengths`: random, so that none of a sender's begins like it. */
export const LENGTH_MARK = `\u0000${randomBytes(3).toString("base64url")}`;

const QUOTE = 0x22;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;

/**
 * The positions, as [start, end), of numbers in a valid JSON text that have an exponent or more digits than a double shows. Scans character by
 * character: a regular expression that skips strings keeps a backtracking step for each escape, and overflows on a string with millions of them.
 */
export function* unusualNumbers(json: string): Generator<[start: number, end: number]> {
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = closingQuote(json, at);
    else if (code === MINUS || (code >= ZERO && code <= NINE)) {
      const start = at;
      let exponent = false;
      for (at++; isInNumber(json.charCodeAt(at)); at++) exponent ||= (json.charCodeAt(at) | 0x20) === 0x65;
      if (exponent || at - start > LENGTH_USUAL_MAX) yield [start, at];
      at--; // the character after a number may begin another token
    }
  }
}

/** Digits, signs, the point and the letter of the exponent; NaN, after the end of the text, is not. */
function isInNumber(code: number): boolean {
  return (code >= ZERO && code <= NINE) || code === 0x2b || code === MINUS || code === 0x2e || (code | 0x20) === 0x65;
}

/**
 * A valid JSON text in which every unusual number is replaced by a string: the mark and the length of the number as the database stores it, which
 * its double does not show. Null if there are none. `findBadLiteral` must have found nothing, which bounds exponents.
 */
export function withLengths(json: string): string | null {
  const pieces: string[] = [];
  let copied = 0;
  for (const [start, end] of unusualNumbers(json)) {
    pieces.push(json.slice(copied, start), JSON.stringify(`${LENGTH_MARK}${keptLength(json.slice(start, end))}`));
    copied = end;
  }
  return copied === 0 ? null : pieces.join("") + json.slice(copied);
}

/** The number of characters of a number that is written without an exponent, with all its decimal places. */
function keptLength(token: string): number {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = PARTS.exec(token) ?? [];
  const leadingZeros = /^0*/.exec(whole + fraction)![0].length;
  const isZero = leadingZeros === whole.length + fraction.length;
  const integer = isZero ? 1 : Math.max(1, whole.length - leadingZeros + Number(exponent));
  const places = Math.max(0, fraction.length - Number(exponent));
  return sign.length + integer + (places === 0 ? 0 : places + 1);
}
