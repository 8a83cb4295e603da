import { at, type ProblemCode, type Problems, quote } from "./problem.js";
import { checkIdentifier } from "../validate/scope.js";
import { fits, type Shape } from "../validate/shapes.js";

/** A part of the snapshot and where it stands. */
export interface Placed<T> {
  item: T;
  path: string;
}

/** A list of parts with ids, as far as it can be read. */
export interface ReadList<T> {
  /** Those whose own shape is sound. */
  items: Placed<T>[];
  /** Undefined where a part cannot be read: it may be the one that others name. */
  ids: Set<string> | undefined;
}

/** How a kind of parts is read and spoken of. */
interface ListOptions {
  shape: Shape;
  most: number;
  /** In the singular. */
  noun: string;
  duplicate: Extract<ProblemCode, `DUPLICATE_${string}`>;
}

/** Reads a list of parts with ids: their number, shapes, ids, and that no id is there twice. What is in them is checked later. */
export function readList<T extends { id: string }>(
  values: unknown[],
  path: string,
  { shape, most, noun, duplicate }: ListOptions,
  problems: Problems,
): ReadList<T> {
  limit(values.length, most, path, problems);
  const ids = new Set<string>();
  const items = values
    .map((value, index) => ({ item: value as T, path: at(path, index) }))
    .filter((read) => {
      if (!fits(shape, read.item, read.path, problems)) return false;
      const place = at(read.path, "id");
      checkIdentifier(read.item.id, place, problems);
      if (ids.has(read.item.id)) problems.add(place, duplicate, `there is another ${noun} ${quote(read.item.id)}`);
      ids.add(read.item.id);
      return true;
    });
  return { items, ids: items.length === values.length ? ids : undefined };
}

export function limit(count: number, most: number, path: string, problems: Problems): void {
  if (count > most) problems.add(path, "TOO_MANY", `there are ${count} of at most ${most}`);
}
