import type { PropertyTest } from "./compare.js";
import type { BoundaryOf } from "./boundary.js";
import { memberReader } from "./json.js";
import type { HistoryEvent, Json } from "./types.js";

/** The occurrences whose property an aggregate reads, and which of them count. */
export interface Selection<T> {
  event: string;
  where: PropertyTest | null;
  /** The value that an occurrence adds; undefined where it is passed over. */
  read: (properties: Record<string, Json>) => T | undefined;
  /** The length of the half-open window (t - within, t] in milliseconds; Infinity without one. */
  within: number;
  boundary: BoundaryOf | undefined;
}

/** Reads a finite number. */
export function numberReader(property: string): Selection<number>["read"] {
  const read = memberReader(property);
  return (properties) => {
    const value = read(properties);
    return typeof value === "number" && Number.isFinite(value) ? value : undefined;
  };
}

/** What an occurrence adds, if it is selected. */
export function select<T>({ where, read }: Selection<T>, event: HistoryEvent): T | undefined {
  return where === null || where(event.properties) ? read(event.properties) : undefined;
}
