import { nearest } from "./suggestion.js";

/** Something that makes a snapshot unacceptable. Codes are stable; messages are for people. */
export interface Problem {
  /** Where it is, for example `segments[2].when.conditions[0].segment`; empty for the document as a whole. */
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

/** A part of the snapshot and where it stands. */
export interface Placed<T> {
  item: T;
  path: string;
}

/** No reader goes through more than this, and an answer must stay of a sensible size whatever was sent. */
const MAX_PROBLEMS = 1_000;
/** Beyond these, an answer has better uses for its time than to look for what was meant. */
const MAX_SUGGESTIONS = 100;

/** Collects problems in the order in which they are found. */
export class Problems {
  readonly found: Problem[] = [];

  add(path: string, code: ProblemCode, message: string): void {
    if (this.found.length < MAX_PROBLEMS) this.found.push({ path, code, message });
  }

  /** The same of a name that is none of those that are known, with the one that was probably meant. */
  addNear(path: string, code: ProblemCode, message: string, name: string, known: Iterable<string>): void {
    const meant = this.found.length < MAX_SUGGESTIONS ? nearest(name, known) : undefined;
    this.add(path, code, meant === undefined ? message : `${message}; did you mean ${quote(meant)}?`);
  }
}

const PLAIN_KEY = /^[A-Za-z_$][A-Za-z0-9_$]*$/;

/** The path of a member, or of a member's member: `path.key`, `path["a key"]`, `path[3]`, `path.key[3]`. */
export function at(path: string, ...keys: (string | number)[]): string {
  return keys.reduce<string>((whole, key) => {
    if (typeof key === "number") return `${whole}[${key}]`;
    if (!PLAIN_KEY.test(key)) return `${whole}[${quote(key)}]`;
    return whole === "" ? key : `${whole}.${key}`;
  }, path);
}

/** A text in quotation marks, cut where it is too long to be read. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 256 ? `${text.slice(0, 256)}…` : text);
}

/** The beginning of a text of more characters than so many. */
export function cut(text: string, most: number): string {
  // Between characters, not within one.
  return text.length <= most ? text : `${[...text.slice(0, most)].slice(0, -1).join("")}…`;
}

/** Texts as a list in a sentence: `"a", "b", "c"`, shortened where there are many. */
export function list(texts: Iterable<string>): string {
  const all = [...texts];
  const shown = all.slice(0, 12).map(quote).join(", ");
  return all.length > 12 ? `${shown}, …` : shown;
}
