const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * Reads a JSON text like JSON.parse, but keeps numbers exactly, which a double would round. To distinguish them from texts, numbers become
 * `#digits e exponent` and texts start with `'`. Zero has no sign, because jsonb keeps none.
 */
export function readExactly(json: string): unknown {
  const tagged = json.replace(TOKENS, (token) =>
    token.startsWith('"') ? `"'${token.slice(1)}` : JSON.stringify(`#${decimal(token)}`),
  );
  return JSON.parse(tagged);
}

/** The same text for all spellings of a number. */
function decimal(token: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = NUMBER.exec(token) ?? [];
  const digits = (whole + fraction).replace(/^0+/, "");
  if (digits === "") return "0";
  const significant = digits.replace(/0+$/, "");
  const places = BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - significant.length);
  return `${sign}${significant}e${places}`;
}

/**
 * Whether the service stores a JSON text: no U+0000 or lone surrogate, no number beyond the range of doubles, even where a later member of
 * the same name hides it.
 */
export function isStorable(json: string): boolean {
  return (json.match(TOKENS) ?? []).every((token) => {
    if (!token.startsWith('"')) return isWithinDoubles(token);
    const text = JSON.parse(token) as string;
    return !/[\p{Surrogate}\0]/u.test(text);
  });
}

function isWithinDoubles(token: string): boolean {
  const value = Number(token);
  if (value !== 0 || decimal(token) !== "0") return Number.isFinite(value) && value !== 0;
  return Math.abs(Number(token.split(/e/i)[1] ?? 0)) <= 324; // a zero keeps its decimal places
}
