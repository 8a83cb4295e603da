/** How the database writes JSON, as far as its diagnostics show it. */

/** The longest name that is shown, in characters. */
const NAME_LENGTH_MAX = 256;

/** The beginning of a text, in characters rather than UTF-16 units. */
export function shorten(text: string): string {
  return text.length <= NAME_LENGTH_MAX ? text : [...text].slice(0, NAME_LENGTH_MAX).join("");
}

const PLAIN_KEY = /^[A-Za-z_$][A-Za-z0-9_$]*$/;

/** The path of a member of an object in a payload: `path.key`, or `path["a key"]`; long keys are cut. The rule of svc.member_path. */
export function memberPath(path: string, key: string): string {
  const short = shorten(key);
  if (short !== key) return `${path}[${JSON.stringify(`${short}…`)}]`;
  return PLAIN_KEY.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
}

/** The number of characters of a value as the text of a jsonb: a space behind each comma and colon, and numbers without an exponent. */
export function jsonbLength(value: unknown): number {
  if (typeof value === "number") return decimalLength(value);
  if (typeof value === "string") return [...JSON.stringify(value)].length;
  if (Array.isArray(value)) return listLength(value.map(jsonbLength));
  if (typeof value !== "object" || value === null) return String(value).length;
  const members = Object.entries(value).map(([key, member]) => jsonbLength(key) + 2 + jsonbLength(member));
  return listLength(members);
}

/** Brackets, and ", " between the parts. */
function listLength(parts: number[]): number {
  return 2 + parts.reduce((sum, length) => sum + length, 0) + 2 * Math.max(0, parts.length - 1);
}

function decimalLength(value: number): number {
  // Of a negative zero JSON keeps no sign.
  const [digits, exponent] = JSON.stringify(value).split("e");
  if (exponent === undefined) return digits!.length;
  const [whole, fraction = ""] = digits!.split(".");
  const power = Number(exponent);
  // "0." and zeros before the digits, or zeros after them.
  return power < 0 ? whole!.length + fraction.length + 1 - power : whole!.length + power;
}
