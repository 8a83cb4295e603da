/**
 * Counts what a JSON text would cost to parse, before it is parsed: the parser takes seconds for a mebibyte of opening brackets, half a minute
 * for an object with millions of members, and gigabytes for millions of `{}`.
 */
import { closingQuote } from "../../ingestion/unusual-numbers.js";
import { shownName } from "../../ingestion/shape-problem.js";

const QUOTE = 0x22;
const COMMA = 0x2c;
const BRACKET = 0x5b;
const BRACE = 0x7b;

export interface JsonLimits {
  /** Levels of nested objects and arrays. */
  depthMax: number;
  /** Total number of objects and arrays. */
  containersMax: number;
  /** Total number of values: scalars, objects and arrays. */
  valuesMax: number;
  /** Members or elements of the top level. */
  membersMax: number;
  /** Members or elements of each object or array directly below the top level. */
  itemsMax: number;
  /** Limits of each part of a request, such as an operation of a batch: each object or array at this depth, the document itself having 1. */
  part: { depth: number; valuesMax: number; charactersMax: number };
}

/** The limit that a text exceeds, and where: for example `events[3]`, or an empty path for the document as a whole. */
export interface ExceededLimit {
  limit: Exclude<keyof JsonLimits, "part"> | "partValuesMax" | "partCharactersMax";
  path: string;
}

export interface JsonCounts {
  /** The number of values, in all or up to the exceeded limit; too high by one for each empty object and array. */
  values: number;
  exceeded: ExceededLimit | null;
}

/** Counts a JSON text up to the first limit that it exceeds. If the text is not valid, a limit may be exceeded only after its first mistake. */
export function countJson(text: string, limits: JsonLimits): JsonCounts {
  const { depthMax, containersMax, valuesMax, membersMax, itemsMax, part } = limits;
  let depth = 0;
  let containers = 0;
  let values = 1;
  let members = 1;
  let items = 1;
  let nameAt = -1;
  let partAt = -1;
  let partValues = 0;
  const exceeds = (limit: ExceededLimit["limit"], path = ""): JsonCounts => ({ values, exceeded: { limit, path } });
  const member = () => memberName(text, nameAt);
  const partPath = () => (part.depth < 3 ? member() : `${member()}[${items - 1}]`);
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) {
      if (depth === 1) nameAt = at;
      at = closingQuote(text, at);
      continue;
    } else if (unit === COMMA) {
      values += 1;
      if (depth === 1 && ++members > membersMax) return exceeds("membersMax");
      if (depth === 2 && ++items > itemsMax) return exceeds("itemsMax", member());
    } else if (unit === BRACKET || unit === BRACE) {
      values += 1;
      if (++depth > depthMax) return exceeds("depthMax");
      if (++containers > containersMax) return exceeds("containersMax");
      if (depth === 2) items = 1;
      if (depth === part.depth) [partAt, partValues] = [at, values];
    } else if (unit === 0x5d || unit === 0x7d) {
      if (depth === part.depth && at - partAt >= part.charactersMax) return exceeds("partCharactersMax", partPath());
      depth -= 1;
    } else continue;
    if (values > valuesMax) return exceeds("valuesMax");
    if (depth >= part.depth && values - partValues > part.valuesMax) return exceeds("partValuesMax", partPath());
  }
  return { values, exceeded: null };
}

/** The name of the top-level member that begins at `at`; empty if there is none. */
function memberName(text: string, at: number): string {
  if (at < 0) return "";
  const raw = text.slice(at, Math.min(closingQuote(text, at) + 1, at + 4096));
  try {
    return shownName(JSON.parse(raw) as string);
  } catch {
    return ""; // too long to be shown, or not valid
  }
}
