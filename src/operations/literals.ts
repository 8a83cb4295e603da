/**
 * What JSON allows and the database does not: U+0000 and lone surrogates in text, numbers beyond the range of a double. Each is told
 * apart here, where the error can name the literal. Looking for them costs a scan for rare escapes and exponents; only a text that has
 * such is taken apart.
 */

const SUSPICIOUS_ESCAPE = /\\u(?:0000|[dD][89a-fA-F])/;
/** An exponent of three digits; one of two leads out of the range only with some two hundred digits before it. */
const SUSPICIOUS_NUMBER = /\d[eE][+-]?0*[1-9]\d\d|\d{200}/;
const EXPONENT_MAX = 324;
const TOKENS = /"([^"\\]*(?:\\.[^"\\]*)*)"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const ESCAPES = /\\(?:u([0-9a-fA-F]{4})|.)/g;

export interface BadLiteral {
  literal: string;
  reason: string;
}

/** The first literal of a valid JSON text that cannot be stored exactly; null where there is none. */
export function findBadLiteral(json: string): BadLiteral | null {
  if (!SUSPICIOUS_ESCAPE.test(json) && !SUSPICIOUS_NUMBER.test(json)) return null;
  for (const match of json.matchAll(TOKENS)) {
    const [token, text] = match;
    const bad = text === undefined ? badNumber(token) : badText(text);
    if (bad) return bad;
  }
  return null;
}

function badNumber(token: string): BadLiteral | null {
  const value = Number(token);
  const [digits = "", exponent = "0"] = token.split(/[eE]/);
  // What has a digit other than zero and reads as zero is too small. The database keeps the places of a zero: 0e-16383 has as many.
  const vanished = value === 0 && (/[1-9]/.test(digits) || Math.abs(Number(exponent)) > EXPONENT_MAX);
  if (Number.isFinite(value) && !vanished) return null;
  return {
    literal: token.slice(0, 40),
    reason: "The number is outside the range of a double (about 1e-324 to 1.8e308).",
  };
}

function badText(text: string): BadLiteral | null {
  if (!SUSPICIOUS_ESCAPE.test(text)) return null;
  let half: { escape: string; end: number } | null = null; // the first half of a pair, and where its second must stand
  for (const { 0: escape, 1: hex, index } of text.matchAll(ESCAPES)) {
    const unit = hex === undefined ? 0x20 : parseInt(hex, 16);
    const isSecondHalf = unit >= 0xdc00 && unit <= 0xdfff;
    if (half && !(isSecondHalf && index === half.end)) return halfPair(half.escape);
    if (!half && isSecondHalf) return halfPair(escape);
    if (unit === 0) return { literal: escape, reason: "The character U+0000 cannot be stored in text." };
    half = unit >= 0xd800 && unit <= 0xdbff ? { escape, end: index + escape.length } : null;
  }
  return half && halfPair(half.escape);
}

function halfPair(literal: string): BadLiteral {
  return { literal, reason: "The escape is half of a surrogate pair without the other half." };
}
