const BACKSLASH = 0x5c;

/** The place of the quote that ends the string of a JSON text whose first quote is at `start`; past the text's end without one. */
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

/** Begins the texts that stand for numbers in what `withLengths` answers. A text that is kept cannot hold the character. */
export const LENGTH_MARK = "\u0000";

const QUOTE = 0x22;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;

/**
 * Where in a valid JSON text the numbers stand that have an exponent or more digits than a double shows, as [start, end). Reads character by
 * character: a regular expression that skips strings keeps a step back for each escape, and overflows on a string of millions.
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
      at--; // what ends a number may begin something
    }
  }
}

/** Digits, signs, the point and the letter of the exponent; NaN, past the end, is none. */
function isInNumber(code: number): boolean {
  return (code >= ZERO && code <= NINE) || code === 0x2b || code === MINUS || code === 0x2e || (code | 0x20) === 0x65;
}

/**
 * A valid JSON text with a text in place of every unusual number: the mark and how long the number is as the database keeps it, which a
 * double does not tell. Null where there is none. `findBadLiteral` must have found nothing, which bounds exponents.
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

/** How many characters a number has that is written without an exponent, all its places kept. */
function keptLength(token: string): number {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = PARTS.exec(token) ?? [];
  const leadingZeros = /^0*/.exec(whole + fraction)![0].length;
  const isZero = leadingZeros === whole.length + fraction.length;
  const integer = isZero ? 1 : Math.max(1, whole.length - leadingZeros + Number(exponent));
  const places = Math.max(0, fraction.length - Number(exponent));
  return sign.length + integer + (places === 0 ? 0 : places + 1);
}
