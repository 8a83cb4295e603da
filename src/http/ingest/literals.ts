/**
 * What JSON allows and the database does not: U+0000 and lone surrogates in text, numbers beyond the range of a double. Each is told
 * apart here, where the error can name the literal. Looking for them costs a scan for rare escapes and exponents; only a text that has
 * such is taken apart.
 */

const SUSPICIOUS_TEXT = /\\u(?:0000|[dD][89a-fA-F])|[eE][+-]?0*[1-9]\d\d|\d{300}/;
const TOKENS = /"([^"\\]*(?:\\.[^"\\]*)*)"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const ESCAPES = /\\(?:u([0-9a-fA-F]{4})|.)/g;

export interface BadLiteral {
  literal: string;
  reason: string;
}

/** The first literal of a valid JSON text that cannot be stored exactly; null where there is none. */
export function findBadLiteral(json: string): BadLiteral | null {
  if (!SUSPICIOUS_TEXT.test(json)) return null;
  for (const match of json.matchAll(TOKENS)) {
    const [token, text] = match;
    const bad = text === undefined ? badNumber(token) : badText(text);
    if (bad) return bad;
  }
  return null;
}

function badNumber(token: string): BadLiteral | null {
  const value = Number(token);
  // What is written with a digit other than zero before the exponent and reads as zero is too small.
  const vanished = value === 0 && /[1-9]/.test(token.split(/[eE]/)[0] ?? "");
  if (Number.isFinite(value) && !vanished) return null;
  return { literal: token.slice(0, 40), reason: "The number is outside the range of a double (about 1e-324 to 1.8e308)." };
}

function badText(text: string): BadLiteral | null {
  let awaited = -1; // where the second half of a surrogate pair must stand
  for (const { 0: escape, 1: hex, index } of text.matchAll(ESCAPES)) {
    const unit = hex === undefined ? 0x20 : parseInt(hex, 16);
    if (unit === 0) return { literal: escape, reason: "The character U+0000 cannot be stored in text." };
    const isSecondHalf = unit >= 0xdc00 && unit <= 0xdfff;
    if ((awaited >= 0 && (!isSecondHalf || index !== awaited)) || (awaited < 0 && isSecondHalf)) return halfPair(escape);
    awaited = unit >= 0xd800 && unit <= 0xdbff ? index + escape.length : -1;
  }
  return awaited >= 0 ? halfPair(text.slice(awaited - 6, awaited)) : null;
}

function halfPair(literal: string): BadLiteral {
  return { literal, reason: "The escape is half of a surrogate pair without the other half." };
}
