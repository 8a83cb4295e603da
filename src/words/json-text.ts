// Parts of JSON texts as they were written. Where a document is cut or put together, numbers keep the digits that JavaScript's do not hold.

// Codes are compared, not characters: texts have megabytes, and a character is a string of its own.
const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [BRACE, BRACE_END, BRACKET, BRACKET_END] = [0x7b, 0x7d, 0x5b, 0x5d];
/** Of valid JSON what stands between its parts is a space, or has a lower code. */
const SPACE = 0x20;

/** The texts of the members of a JSON object, by name; none where it is no object. The text has to be valid JSON. */
export function memberTexts(text: string): ReadonlyMap<string, string> {
  return new Map(
    partsOf(text, "{").map((member) => {
      const end = endOfString(member, 0) + 1;
      return [JSON.parse(member.slice(0, end)) as string, member.slice(member.indexOf(":", end) + 1).trim()];
    }),
  );
}

/** The text of an object with these members, each by its name and its text. */
export function objectFromTexts(members: Iterable<readonly [name: string, text: string]>): string {
  return `{${Array.from(members, ([name, text]) => `${JSON.stringify(name)}:${text}`).join(",")}}`;
}

/** The texts of the elements of a JSON array; none where it is no array. The text has to be valid JSON. */
export function elementTexts(text: string): string[] {
  return partsOf(text, "[");
}

/** The same text without spaces between its parts. */
export function compactJson(text: string): string {
  let compact = "";
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code <= SPACE) {
      compact += text.slice(start, at);
      start = at + 1;
    }
  }
  return compact + text.slice(start);
}

/** The properties of an event, of which this is the JSON text; empty where it has none. */
export function propertiesIn(event: string): string {
  const text = memberTexts(event).get("properties") ?? "";
  return text === "{}" ? "" : text;
}

/** What stands between the commas of an object or array that opens so. */
function partsOf(text: string, open: "{" | "["): string[] {
  const whole = text.trim();
  if (!whole.startsWith(open)) return [];
  const parts: string[] = [];
  let depth = 0;
  let start = 1;
  for (let at = 0; at < whole.length; at++) {
    const code = whole.charCodeAt(at);
    if (code === QUOTE) at = endOfString(whole, at);
    else if (code === BRACE || code === BRACKET) depth++;
    else if (code === BRACE_END || code === BRACKET_END) depth--;
    const isEndOfPart = depth === 0 || (depth === 1 && code === COMMA);
    if (!isEndOfPart) continue;
    parts.push(whole.slice(start, at).trim());
    start = at + 1;
  }
  return parts[0] === "" ? [] : parts;
}

/** Where the string ends that begins there: its closing quotation mark. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  for (let code = text.charCodeAt(at); at < text.length && code !== QUOTE; code = text.charCodeAt(at)) {
    at += code === BACKSLASH ? 2 : 1;
  }
  return at;
}
