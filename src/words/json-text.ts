// Splits and joins JSON documents as text, so that numbers keep digits that a JavaScript number cannot represent.

// Compares character codes instead of characters, which would each be a string: texts can have megabytes.
const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [BRACE, BRACE_END, BRACKET, BRACKET_END] = [0x7b, 0x7d, 0x5b, 0x5d];
/** In valid JSON, all white space between the parts is a space or has a lower code. */
const SPACE = 0x20;

/** The texts of the members of a JSON object, by name; empty for anything else. The text must be valid JSON. */
export function memberTexts(text: string): ReadonlyMap<string, string> {
  return new Map(
    partsOf(text, "{").map((member) => {
      const end = endOfString(member, 0) + 1;
      return [JSON.parse(member.slice(0, end)) as string, member.slice(member.indexOf(":", end) + 1).trim()];
    }),
  );
}

/** The text of an object with these members. */
export function objectFromTexts(members: Iterable<readonly [name: string, text: string]>): string {
  return `{${Array.from(members, ([name, text]) => `${JSON.stringify(name)}:${text}`).join(",")}}`;
}

/** The texts of the elements of a JSON array; empty for anything else. The text must be valid JSON. */
export function elementTexts(text: string): string[] {
  return partsOf(text, "[");
}

/** A JSON text without the white space between its parts. */
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

/** The text of the properties in an event's JSON text; empty if it has none. */
export function propertiesIn(event: string): string {
  const text = memberTexts(event).get("properties") ?? "";
  return text === "{}" ? "" : text;
}

/** The parts between the commas of an object or array; empty unless the text begins with `open`. */
function partsOf(text: string, open: "{" | "["): string[] {
  const json = text.trim();
  if (!json.startsWith(open)) return [];
  const parts: string[] = [];
  let depth = 0;
  let start = 1;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = endOfString(json, at);
    else if (code === BRACE || code === BRACKET) depth++;
    else if (code === BRACE_END || code === BRACKET_END) depth--;
    const isEndOfPart = depth === 0 || (depth === 1 && code === COMMA);
    if (!isEndOfPart) continue;
    parts.push(json.slice(start, at).trim());
    start = at + 1;
  }
  return parts[0] === "" ? [] : parts;
}

/** The position of the closing quotation mark of the string that begins at `start`. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  for (let code = text.charCodeAt(at); at < text.length && code !== QUOTE; code = text.charCodeAt(at)) {
    at += code === BACKSLASH ? 2 : 1;
  }
  return at;
}
