import type { PropertyTest } from "./conditions/compare.js";
import type { CompiledScope } from "./compile-context.js";
import { memberReader } from "./json.js";
import type { HistoryEvent, Json } from "./state/types.js";

/** The occurrences whose property an aggregate reads. */
export interface OccurrenceSelection<T> {
  event: string;
  where: PropertyTest | null;
  /** The value that an occurrence adds; undefined where it is passed over. */
  read: (properties: Record<string, Json>) => T | undefined;
}

/** Those of them that count. */
export interface ScopedSelection<T> extends OccurrenceSelection<T>, CompiledScope {}

/** Reads a finite number. */
export function numberReader(property: string): OccurrenceSelection<number>["read"] {
  const read = memberReader(property);
  return (properties) => {
    const value = read(properties);
    return typeof value === "number" && Number.isFinite(value) ? value : undefined;
  };
}

/** What an occurrence adds, if it is selected. */
export function select<T>({ where, read }: OccurrenceSelection<T>, event: HistoryEvent): T | undefined {
  return where === null || where(event.properties) ? read(event.properties) : undefined;
}
