import { canonicalJson } from "../snapshot/canonical.js";
import { at, cut, type Placed } from "../snapshot/problem.js";

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
  /** What was there, and what is there now; null where there is nothing. */
  before: unknown;
  after: unknown;
}

export const CHANGE_SUBJECTS = [
  "event",
  "property",
  "trait",
  "state",
  "transition",
  "segment",
  "journey",
  "step",
  "health component",
  "rule",
  "signal",
  "setting",
] as const;

export type ChangeSubject = (typeof CHANGE_SUBJECTS)[number];

/** The part of the model that a change is told of. */
export interface ComparedPart {
  subject: ChangeSubject;
  id: string;
}

/** One of the two values that are compared and where it stands; undefined where there is none. */
export type Side<V> = Placed<V> | undefined;

/** Tells how two values that belong to a part differ. At least one side is there. */
export type Compare<V> = (part: ComparedPart, before: Side<V>, after: Side<V>) => Change[];

/** A change, which stands where its newer side does. */
export function change(
  kind: Change["kind"],
  { subject, id }: ComparedPart,
  before: Side<unknown>,
  after: Side<unknown>,
  message: string,
): Change {
  const { path } = (after ?? before)!;
  // More of a message is not read.
  const told = cut(message, 500);
  return { kind, subject, id, path, message: told, before: before?.item ?? null, after: after?.item ?? null };
}

/** Compares a value as a whole: `expiresAfter: 30d → none`. */
export function compareWhole<V>(label: string, text: (value: V) => string, absent = "none"): Compare<V> {
  const shown = (side: Side<V>): string => (side === undefined ? absent : text(side.item));
  return (part, before, after) => [
    change("changed", part, before, after, `${label}: ${shown(before)} → ${shown(after)}`),
  ];
}

/** Compares an option that is there as true or not at all: `repeat: false → true`. */
export const compareFlag = (label: string): Compare<true> => compareWhole(label, String, "false");

/** How each member of an object is compared; null for the one that the object is found by. */
export type MemberComparers<T> = { readonly [K in keyof T]-?: Compare<NonNullable<T[K]>> | null };

/** Compares objects member by member. */
export function members<T extends object>(comparisons: MemberComparers<T>): Compare<T> {
  return (part, before, after) =>
    (Object.keys(comparisons) as (keyof T & string)[]).flatMap((key) => {
      const [older, newer] = [memberSide(before, key), memberSide(after, key)];
      return same(older?.item, newer?.item) ? [] : (comparisons[key]?.(part, older, newer) ?? []);
    });
}

/** A member and where it stands; undefined where it is absent or null. */
export function memberSide<T extends object, K extends keyof T & string>(side: Side<T>, key: K) {
  const value = side && Object.hasOwn(side.item, key) ? side.item[key] : undefined;
  return value === undefined || value === null ? undefined : { item: value, path: at(side!.path, key) };
}

interface Parts<T> {
  /** What a part is called, by what it is found by in the other snapshot and what it belongs to. */
  part: (key: string, owner: ComparedPart) => ComparedPart;
  /** What is said of one that was added or removed. */
  text: (item: T) => string;
  compare: Compare<T>;
}

interface ListedParts<T> extends Parts<T> {
  key: (item: T) => string;
  /** What is in another order, and what that is told of, where it is not what the list belongs to. */
  order: { what: string; part?: ComparedPart };
}

interface Keyed<T> extends Placed<T> {
  key: string;
}

/** Compares records by the names of their members. */
export function records<T>(parts: Parts<T>): Compare<Readonly<Record<string, T>>> {
  const keyed = (side: Side<Readonly<Record<string, T>>>): Keyed<T>[] =>
    Object.entries(side?.item ?? {}).map(([key, item]) => ({ key, item, path: at(side!.path, key) }));
  return (owner, before, after) => compareKeyed(owner, keyed(before), keyed(after), parts);
}

/** Compares lists of parts that are found by a key; one that is there again is numbered. */
export function lists<T>(parts: ListedParts<T>): Compare<readonly T[]> {
  const keyed = (side: Side<readonly T[]>): Keyed<T>[] => {
    const seen = new Map<string, number>();
    return (side?.item ?? []).map((item, index) => {
      const key = parts.key(item);
      const nth = (seen.get(key) ?? 0) + 1;
      seen.set(key, nth);
      return { key: nth === 1 ? key : `${key} #${nth}`, item, path: at(side!.path, index) };
    });
  };
  return (owner, before, after) => {
    const [was, is] = [keyed(before), keyed(after)];
    const { what, part = owner } = parts.order;
    return [...compareKeyed(owner, was, is, parts), ...compareOrder(part, was, is, after?.path ?? "", what)];
  };
}

/** Tells what was added and changed, in the order of the newer list, and then what was removed. */
function compareKeyed<T>(
  owner: ComparedPart,
  before: readonly Keyed<T>[],
  after: readonly Keyed<T>[],
  { part, text, compare }: Parts<T>,
): Change[] {
  const rest = new Map(before.map((one) => [one.key, one]));
  const found = after.flatMap((one) => {
    const own = part(one.key, owner);
    const former = rest.get(one.key);
    rest.delete(one.key);
    if (former === undefined) return [change("added", own, undefined, one, text(one.item))];
    return same(former.item, one.item) ? [] : compare(own, former, one);
  });
  const gone = [...rest.values()].map((one) => change("removed", part(one.key, owner), one, undefined, text(one.item)));
  return [...found, ...gone];
}

/** Tells where what is in both lists is in another order. */
function compareOrder(
  part: ComparedPart,
  before: readonly Keyed<unknown>[],
  after: readonly Keyed<unknown>[],
  path: string,
  what: string,
): Change[] {
  const [older, newer] = [before, after].map((list) => new Set(list.map(({ key }) => key)));
  const was = [...older!].filter((key) => newer!.has(key));
  const is = [...newer!].filter((key) => older!.has(key));
  if (same(was, is)) return [];
  const message = `${what} in another order: ${was.join(", ")} → ${is.join(", ")}`;
  return [change("changed", part, { item: was, path }, { item: is, path }, message)];
}

/** Whether two values have the same canonical JSON; undefined is the same as undefined only. */
export function same(before: unknown, after: unknown): boolean {
  if (before === undefined || after === undefined) return before === after;
  return canonicalJson(before) === canonicalJson(after);
}
