import { nearest } from "./suggestion.js";

/** Something that makes a snapshot invalid. Codes are stable; messages are for people. */
export interface Problem {
  /** The place, for example `segments[2].when.conditions[0].segment`; empty for the document as a whole. */
  path: string;
  code: ProblemCode;
  message: string;
}

export type ProblemCode =
  | "FORMAT_VERSION_UNKNOWN"
  | "SNAPSHOT_TOO_LARGE"
  | "TOO_DEEP"
  | "TOO_MANY"
  | "COUNT_TOO_LARGE"
  | "NOT_JSON"
  | "INVALID_SHAPE"
  | "INVALID_NAME"
  | "RESERVED_NAME"
  | "INVALID_DURATION"
  | "INVALID_VALUE"
  | "TYPE_MISMATCH"
  | "UNKNOWN_EVENT"
  | "UNKNOWN_PROPERTY"
  | "UNKNOWN_TRAIT"
  | "UNKNOWN_STATE"
  | "UNKNOWN_SEGMENT"
  | "UNKNOWN_JOURNEY"
  | "UNKNOWN_STEP"
  | "UNKNOWN_COMPONENT"
  | "UNKNOWN_BAND"
  | "UNKNOWN_SIGNAL"
  | "NO_LIFECYCLE"
  | "NO_HEALTH"
  | "DUPLICATE_STATE"
  | "DUPLICATE_SEGMENT"
  | "DUPLICATE_JOURNEY"
  | "DUPLICATE_STEP"
  | "DUPLICATE_COMPONENT"
  | "DUPLICATE_BAND"
  | "DUPLICATE_RULE"
  | "DUPLICATE_SIGNAL"
  | "DUPLICATE_TRAIT"
  | "TERMINAL_STATE_WITH_TRANSITIONS"
  | "STEP_IMPOSSIBLE"
  | "WEIGHTS_SUM_TO_ZERO"
  | "SEGMENT_HAS_CONDITION"
  | "SIGNAL_HAS_CONDITION"
  | "SEGMENT_CYCLE";

/** A part of the snapshot with its path. */
export interface Placed<T> {
  item: T;
  path: string;
}

/** More problems are of no use to a reader, and responses must stay small whatever was sent. */
const MAX_PROBLEMS = 1_000;
/** After this many problems, no more suggestions are searched for, to save time. */
const MAX_SUGGESTIONS = 100;

/** Collects problems in the order in which they are found. */
export class Problems {
  readonly found: Problem[] = [];

  add(path: string, code: ProblemCode, message: string): void {
    if (this.found.length < MAX_PROBLEMS) this.found.push({ path, code, message });
  }

  /** Adds a problem about an unknown name, with a suggestion if a known name is near. */
  addNear(path: string, code: ProblemCode, message: string, name: string, known: Iterable<string>): void {
    const suggestion = this.found.length < MAX_SUGGESTIONS ? nearest(name, known) : undefined;
    this.add(path, code, suggestion === undefined ? message : `${message}; did you mean ${quote(suggestion)}?`);
  }
}

const PLAIN_KEY = /^[A-Za-z_$][A-Za-z0-9_$]*$/;

/** The path of a member, or of a member's member: `path.key`, `path["a key"]`, `path[3]`, `path.key[3]`. */
export function at(path: string, ...keys: (string | number)[]): string {
  return keys.reduce<string>((parent, key) => {
    if (typeof key === "number") return `${parent}[${key}]`;
    if (!PLAIN_KEY.test(key)) return `${parent}[${quote(key)}]`;
    return parent === "" ? key : `${parent}.${key}`;
  }, path);
}

/** A text in quotation marks, cut if it is too long to read. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 256 ? `${text.slice(0, 256)}…` : text);
}

/** Cuts a text that is longer than `most` UTF-16 units, and marks the cut with an ellipsis. */
export function cut(text: string, most: number): string {
  // Cut between characters, not within a surrogate pair.
  return text.length <= most ? text : `${[...text.slice(0, most)].slice(0, -1).join("")}…`;
}

/** Texts as a list in a sentence: `"a", "b", "c"`; shortened if there are many. */
export function list(texts: Iterable<string>): string {
  const all = [...texts];
  const shown = all.slice(0, 12).map(quote).join(", ");
  return all.length > 12 ? `${shown}, …` : shown;
}
