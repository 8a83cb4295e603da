import { type Changes, type ComparedPart, same, type ChangeSubject } from "./change.js";
import type { Placed } from "../snapshot/list.js";
import { at } from "../snapshot/problem.js";

/** A part by what it is found by in the other snapshot. */
export interface Keyed<T> extends Placed<T> {
  key: string;
}

/** The parts of a list by their keys; a key that is there again is numbered. */
export function keyedItems<T>({ item, path }: Placed<readonly T[]>, keyOf: (item: T) => string): Keyed<T>[] {
  const seen = new Map<string, number>();
  return item.map((one, index) => {
    const key = keyOf(one);
    const nth = (seen.get(key) ?? 0) + 1;
    seen.set(key, nth);
    return { key: nth === 1 ? key : `${key} #${nth}`, item: one, path: at(path, index) };
  });
}

/** The members of an object by their names. */
export function keyedMembers<T>({ item, path }: Placed<Readonly<Record<string, T>>>): Keyed<T>[] {
  return Object.entries(item).map(([key, value]) => ({ key, item: value, path: at(path, key) }));
}

export interface ListOptions<T> {
  part: (key: string) => ComparedPart;
  /** What is said of a part that was added or removed. */
  text: (item: T) => string;
  /** Compares two that differ. */
  compare: (part: ComparedPart, before: Placed<T>, after: Placed<T>) => void;
}

/** Tells what was added and changed, in the order of the newer list, and then what was removed. */
export function compareKeyed<T>(
  before: readonly Keyed<T>[],
  after: readonly Keyed<T>[],
  { part, text, compare }: ListOptions<T>,
  changes: Changes,
): void {
  const older = new Map(before.map((one) => [one.key, one]));
  for (const one of after) {
    const former = older.get(one.key);
    if (former === undefined) changes.added(part(one.key), one, text(one.item));
    else if (!same(former.item, one.item)) compare(part(one.key), former, one);
    older.delete(one.key);
  }
  for (const [key, one] of older) changes.removed(part(key), one, text(one.item));
}

export interface PartsOptions<T> extends Pick<ListOptions<T>, "text" | "compare"> {
  subject: ChangeSubject;
  /** What they are called together, for example `segments`. */
  what: string;
}

/** Compares two lists of a kind of parts with ids. */
export function compareParts<T extends { id: string }>(
  before: Placed<readonly T[]>,
  after: Placed<readonly T[]>,
  { subject, what, text, compare }: PartsOptions<T>,
  changes: Changes,
): void {
  const [was, is] = [keyedItems(before, ({ id }) => id), keyedItems(after, ({ id }) => id)];
  compareKeyed(was, is, { part: (id) => ({ subject, id }), text, compare }, changes);
  compareOrder(was, is, { part: { subject: "setting", id: what }, path: after.path, what }, changes);
}

/** Tells where what is in both lists is in another order. `path` is that of the newer list. */
export function compareOrder(
  before: readonly Keyed<unknown>[],
  after: readonly Keyed<unknown>[],
  { part, path, what }: { part: ComparedPart; path: string; what: string },
  changes: Changes,
): void {
  const older = new Set(before.map(({ key }) => key));
  const newer = new Set(after.map(({ key }) => key));
  const was = before.map(({ key }) => key).filter((key) => newer.has(key));
  const is = after.map(({ key }) => key).filter((key) => older.has(key));
  if (same(was, is)) return;
  const message = `${what} in another order: ${was.join(", ")} → ${is.join(", ")}`;
  changes.changed(part, { item: was, path }, { item: is, path }, message);
}
