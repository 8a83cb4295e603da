import { canonicalJson } from "../snapshot/canonical.js";
import type { Placed } from "../snapshot/list.js";
import { at } from "../snapshot/problem.js";

/** A difference between two snapshots, in the author's terms. */
export interface Change {
  kind: "added" | "removed" | "changed";
  subject: ChangeSubject;
  /** Of the subject: `login`, `login.seats` (a property), `new → trial` (a transition), `onboarding.invite_team` (a step). */
  id: string;
  /** Where `after` stands in the newer snapshot; where `after` is null, where `before` stands in the older one. */
  path: string;
  /** What is different, without the subject and its id: `threshold of count of "login" within 30d: 3 → 5`. */
  message: string;
  /** What was there; null where nothing was. */
  before: unknown;
  /** What is there now; null where nothing is. */
  after: unknown;
}

export type ChangeSubject =
  | "event"
  | "property"
  | "trait"
  | "state"
  | "transition"
  | "segment"
  | "journey"
  | "step"
  | "health component"
  | "rule"
  | "signal"
  | "setting";

/** The part of the model that a change is told of. */
export interface ComparedPart {
  subject: ChangeSubject;
  id: string;
}

/** More of a message is not read. In characters. */
const MESSAGE_LENGTH_MAX = 500;

/** Collects changes in the order in which they are found. */
export class Changes {
  readonly found: Change[] = [];

  added(part: ComparedPart, after: Placed<unknown>, message: string): void {
    this.#add("added", part, undefined, after, message);
  }

  removed(part: ComparedPart, before: Placed<unknown>, message: string): void {
    this.#add("removed", part, before, undefined, message);
  }

  /** Something of a part that is in both snapshots. One side may be undefined, not both. */
  changed(
    part: ComparedPart,
    before: Placed<unknown> | undefined,
    after: Placed<unknown> | undefined,
    message: string,
  ): void {
    this.#add("changed", part, before, after, message);
  }

  #add(
    kind: Change["kind"],
    { subject, id }: ComparedPart,
    before: Placed<unknown> | undefined,
    after: Placed<unknown> | undefined,
    message: string,
  ): void {
    const { path } = (after ?? before)!;
    const values = { before: before?.item ?? null, after: after?.item ?? null };
    this.found.push({ kind, subject, id, path, message: cut(message), ...values });
  }
}

/** Tells a value that differs; a side is undefined where it has none. */
export type Compare<V> = (before: Placed<V> | undefined, after: Placed<V> | undefined) => void;

/** How each member of a part is compared; null for the one that it is found by. */
export type Comparisons<T> = { readonly [K in keyof T]-?: Compare<NonNullable<T[K]>> | null };

/** Compares two objects member by member. */
export function compareMembers<T extends object>(
  before: Placed<T>,
  after: Placed<T>,
  comparisons: Comparisons<T>,
): void {
  for (const key of Object.keys(comparisons) as (keyof T & string)[]) {
    const [older, newer] = [member(before, key), member(after, key)];
    if (!same(older?.item, newer?.item)) comparisons[key]?.(older, newer);
  }
}

/** A comparison of a value as a whole: `expires after: 30d → none`. */
export function asWhole<V>(
  changes: Changes,
  part: ComparedPart,
  label: string,
  text: (value: V) => string,
): Compare<V> {
  const shown = (side: Placed<V> | undefined): string => (side === undefined ? "none" : text(side.item));
  return (before, after) => changes.changed(part, before, after, `${label}: ${shown(before)} → ${shown(after)}`);
}

/** A comparison of an option that is there as true or not at all: `repeat: false → true`. */
export function asFlag(changes: Changes, part: ComparedPart, label: string): Compare<true> {
  return (before, after) =>
    changes.changed(part, before, after, `${label}: ${before !== undefined} → ${after !== undefined}`);
}

/** A member and where it stands; undefined where it is absent or null. */
export function member<T extends object, K extends keyof T & string>(
  { item, path }: Placed<T>,
  key: K,
): Placed<NonNullable<T[K]>> | undefined {
  const value = Object.hasOwn(item, key) ? item[key] : undefined;
  return value === undefined || value === null ? undefined : { item: value, path: at(path, key) };
}

/** Whether two values have the same canonical JSON; undefined is the same as undefined only. */
export function same(before: unknown, after: unknown): boolean {
  if (before === undefined || after === undefined) return before === after;
  return canonicalJson(before) === canonicalJson(after);
}

function cut(text: string): string {
  if (text.length <= MESSAGE_LENGTH_MAX) return text;
  // Cut between characters, not within one.
  return `${[...text.slice(0, MESSAGE_LENGTH_MAX)].slice(0, -1).join("")}…`;
}
