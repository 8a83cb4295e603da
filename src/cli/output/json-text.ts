// Parts of JSON texts as they were written. Where a document is cut or put together, numbers keep the digits that JavaScript's do not hold.

/** The texts of the members of a JSON object, by name; none where it is no object. The text has to be valid JSON. */
export function memberTexts(text: string): ReadonlyMap<string, string> {
  const members = new Map<string, string>();
  let at = afterSpace(text, 0);
  if (text[at] !== "{") return members;
  at = afterSpace(text, at + 1);
  while (text[at] !== "}") {
    const nameEnd = afterString(text, at);
    const start = afterSpace(text, afterSpace(text, nameEnd) + 1);
    const end = afterValue(text, start);
    members.set(JSON.parse(text.slice(at, nameEnd)) as string, text.slice(start, end));
    at = afterSeparator(text, end);
  }
  return members;
}

/** The text of an object with these members, each by its name and its text. */
export function objectText(members: Iterable<readonly [name: string, text: string]>): string {
  return `{${Array.from(members, ([name, text]) => `${JSON.stringify(name)}:${text}`).join(",")}}`;
}

/** The texts of the elements of a JSON array. */
export function elementTexts(text: string): string[] {
  const elements: string[] = [];
  let at = afterSpace(text, 0);
  if (text[at] !== "[") return elements;
  at = afterSpace(text, at + 1);
  while (text[at] !== "]") {
    const end = afterValue(text, at);
    elements.push(text.slice(at, end));
    at = afterSeparator(text, end);
  }
  return elements;
}

/** The properties of an event, of which this is the JSON text; empty where it has none. */
export function propertiesIn(event: string): string {
  const text = memberTexts(event).get("properties") ?? "";
  return text === "{}" ? "" : text;
}

const SPACE = /[ \t\r\n]*/y;
const SCALAR = /[^\s,\]}]+/y;
/** All up to what opens or closes a level, or a string, in which brackets say nothing. */
const PLAIN = /[^"[\]{}]*/y;

function match(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  if (!pattern.test(text)) throw new Error(`not the JSON that was expected, at character ${at}`);
  return pattern.lastIndex;
}

function afterSpace(text: string, at: number): number {
  return match(SPACE, text, at);
}

/** Not by a pattern: those give up on very long strings. */
function afterString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === '"') return at + 1;
  }
  throw new Error("a JSON string that does not end");
}

/** @returns where the next member or element begins, or where the object or array ends */
function afterSeparator(text: string, at: number): number {
  const next = afterSpace(text, at);
  return text[next] === "," ? afterSpace(text, next + 1) : next;
}

function afterValue(text: string, start: number): number {
  const first = text[start];
  if (first === '"') return afterString(text, start);
  if (first !== "{" && first !== "[") return match(SCALAR, text, start);
  let depth = 0;
  let at = start;
  do {
    at = match(PLAIN, text, at);
    const next = text[at];
    if (next === '"') at = afterString(text, at);
    else {
      if (next === undefined) throw new Error("JSON that does not end");
      depth += next === "{" || next === "[" ? 1 : -1;
      at += 1;
    }
  } while (depth > 0);
  return at;
}
