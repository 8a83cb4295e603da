import type { BadLiteral } from "./literals.js";
import { shownName } from "./shape-problem.js";

const PLAIN_NAME = /^[A-Za-z_$][A-Za-z0-9_$]*$/;

/**
 * The path of the value, or of the name, in which a literal of a valid JSON text stands; undefined where a later member of the same name
 * hides it. The text is read once more with a mark in the literal's place.
 */
export function placeOf(text: string, { literal, at, length }: BadLiteral): string | undefined {
  // Nothing else in the text is of this length and repeats it.
  const mark = `${"mark ".repeat(4)}${at}`;
  const isEscape = literal.startsWith("\\");
  const marked = text.slice(0, at) + (isEscape ? mark : JSON.stringify(mark)) + text.slice(at + length);
  return find(JSON.parse(marked), "", (name) => name.includes(mark)) ?? undefined;
}

function find(value: unknown, path: string, isMarked: (text: string) => boolean): string | null {
  if (typeof value === "string") return isMarked(value) ? path : null;
  if (typeof value !== "object" || value === null) return null;
  for (const [name, member] of Object.entries(value)) {
    if (isMarked(name)) return path;
    const found = find(member, memberPath(path, name, Array.isArray(value)), isMarked);
    if (found !== null) return found;
  }
  return null;
}

function memberPath(path: string, name: string, isItem: boolean): string {
  if (isItem) return `${path}[${name}]`;
  if (!PLAIN_NAME.test(name)) return `${path}[${JSON.stringify(shownName(name))}]`;
  return path === "" ? shownName(name) : `${path}.${shownName(name)}`;
}
