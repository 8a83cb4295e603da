/** Parses JSON texts to values that can be compared exactly, with every digit of their numbers. */

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;
const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * The value of a JSON text, with every number and every string (names too) as a prefixed string: `n` and the number as it is stored, `s` and the
 * string. Of members with the same name the last one counts. Throws SyntaxError if the text is not JSON.
 */
export function exactJson(text: string): unknown {
  JSON.parse(text);
  return JSON.parse(
    text.replace(TOKEN, (token) => (token.startsWith('"') ? `"s${token.slice(1)}` : `"n${written(token)}"`)),
  );
}

/** The value without the notation of its numbers: 120.50 is 120.5. */
export function withoutNotation(value: unknown): unknown {
  if (typeof value === "string") return /^n.*\./.test(value) ? value.replace(/\.?0*$/, "") : value;
  if (Array.isArray(value)) return value.map(withoutNotation);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withoutNotation(member)]));
}

/** A number as it is stored according to docs/formats.md: all digits, exponents written out, no negative zero. */
export function written(token: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = NUMBER.exec(token) ?? [];
  const places = fraction.length - Number(exponent);
  const digits = places < 0 ? whole + fraction + "0".repeat(-places) : (whole + fraction).padStart(places + 1, "0");
  const cut = digits.length - Math.max(0, places);
  const plain = digits.slice(0, cut).replace(/^0+(?=\d)/, "") + (places > 0 ? `.${digits.slice(cut)}` : "");
  return (/[1-9]/.test(plain) ? sign : "") + plain;
}
