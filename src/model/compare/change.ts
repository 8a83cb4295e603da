import { canonicalJson } from "../snapshot/canonical.js";
import { at, cut, type Placed } from "../snapshot/problem.js";

/** A difference between two snapshots, in the author's terms. */
export interface Change {
  kind: "added" | "removed" | "changed";
  subject: ChangeSubject;
  /** The id of the subject: `login`, `login.seats` (a property), `new → trial` (a transition), `onboarding.invite_team` (a step). */
  id: string;
  /** The path of `after` in the newer snapshot; if `after` is null, the path of `before` in the older one. */
  path: string;
  /** What is different, without the subject and its id: `threshold of count of "login" within 30d: 3 → 5`. */
  message: string;
  /** The old and the new value; null if there is none. */
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

/** The part of the model to which a change is attributed. */
export interface ComparedPart {
  subject: ChangeSubject;
  id: string;
}

/** One of the two compared values with its path; undefined if there is none. */
export type Side<V> = Placed<V> | undefined;

/** Returns the differences between two values that belong to a part. At least one side is present. */
export type Compare<V> = (part: ComparedPart, before: Side<V>, after: Side<V>) => Change[];

/** Creates a change at the path of its newer side. */
export function change(
  kind: Change["kind"],
  { subject, id }: ComparedPart,
  before: Side<unknown>,
  after: Side<unknown>,
  message: string,
): Change {
  const { path } = (after ?? before)!;
  // Longer messages are of no use to a reader.
  const shortened = cut(message, 500);
  return { kind, subject, id, path, message: shortened, before: before?.item ?? null, after: after?.item ?? null };
}

/** Compares a value as a whole: `expiresAfter: 30d → none`. */
export function compareAsText<V>(label: string, text: (value: V) => string, absent = "none"): Compare<V> {
  const shown = (side: Side<V>): string => (side === undefined ? absent : text(side.item));
  return (part, before, after) => [
    change("changed", part, before, after, `${label}: ${shown(before)} → ${shown(after)}`),
  ];
}

/** Compares an option that is either true or absent: `repeat: false → true`. */
export const compareFlag = (label: string): Compare<true> => compareAsText(label, String, "false");

/** How each member of an object is compared; null for the member that identifies the object. */
export type MemberComparers<T> = { readonly [K in keyof T]-?: Compare<NonNullable<T[K]>> | null };

/** Compares objects member by member. */
export function members<T extends object>(comparisons: MemberComparers<T>): Compare<T> {
  return (part, before, after) =>
    (Object.keys(comparisons) as (keyof T & string)[]).flatMap((key) => {
      const [older, newer] = [memberSide(before, key), memberSide(after, key)];
      return same(older?.item, newer?.item) ? [] : (comparisons[key]?.(part, older, newer) ?? []);
    });
}

/** A member with its path; undefined if it is absent or null. */
export function memberSide<T extends object, K extends keyof T & string>(side: Side<T>, key: K) {
  const value = side && Object.hasOwn(side.item, key) ? side.item[key] : undefined;
  return value === undefined || value === null ? undefined : { item: value, path: at(side!.path, key) };
}

interface Parts<T> {
  /** The part, from the key that identifies it in both snapshots and the part that it belongs to. */
  part: (key: string, owner: ComparedPart) => ComparedPart;
  /** The message about a part that was added or removed. */
  text: (item: T) => string;
  compare: Compare<T>;
}

interface ListedParts<T> extends Parts<T> {
  key: (item: T) => string;
  /** What is in another order, and the part to which that change is attributed, unless it is the owner of the list. */
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

/** Compares lists of parts that are identified by a key; repeated keys are numbered. */
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

/** Returns what was added and changed, in the order of the newer list, and then what was removed. */
function compareKeyed<T>(
  owner: ComparedPart,
  before: readonly Keyed<T>[],
  after: readonly Keyed<T>[],
  { part, text, compare }: Parts<T>,
): Change[] {
  const unmatched = new Map(before.map((one) => [one.key, one]));
  const changes = after.flatMap((one) => {
    const own = part(one.key, owner);
    const former = unmatched.get(one.key);
    unmatched.delete(one.key);
    if (former === undefined) return [change("added", own, undefined, one, text(one.item))];
    return same(former.item, one.item) ? [] : compare(own, former, one);
  });
  const removed = [...unmatched.values()].map((one) =>
    change("removed", part(one.key, owner), one, undefined, text(one.item)),
  );
  return [...changes, ...removed];
}

/** Returns a change if the parts that are in both lists are in another order. */
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

/** Whether two values have the same canonical JSON; undefined equals only undefined. */
export function same(before: unknown, after: unknown): boolean {
  if (before === undefined || after === undefined) return before === after;
  return canonicalJson(before) === canonicalJson(after);
}
