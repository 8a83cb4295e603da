import type { EventSelector, Trigger as TriggerNode } from "../model/snapshot/types.js";

/**
 * The keys under which values of this language hold their snapshot nodes. They are symbols, so that editors do not offer them and they
 * cannot collide with the author's names.
 */

/** The node of a condition, a field or an event (its schema). */
export const NODE: unique symbol = Symbol("svc.node");
/** The selected occurrences, on an event or a filtered event. */
export const SELECTOR: unique symbol = Symbol("svc.selector");
/** The measure, on a number. */
export const MEASURE: unique symbol = Symbol("svc.measure");
/** The name and type, on a trait. */
export const TRAIT: unique symbol = Symbol("svc.trait");
/** The node of a score. */
export const SCORE: unique symbol = Symbol("svc.score");
/** The node of a trigger. */
export const TRIGGER: unique symbol = Symbol("svc.trigger");
/** The node of an action. */
export const ACTION: unique symbol = Symbol("svc.action");
/** True on an event that is not meant for conditions. */
export const RECORD_ONLY: unique symbol = Symbol("svc.recordOnly");
/** The kind, on each declared part of a model. */
export const PART: unique symbol = Symbol("svc.part");
/** On each declared part, the function that builds its node. Called after every module has loaded, since conditions may be functions. */
export const LOWER: unique symbol = Symbol("svc.lower");

/**
 * Where the author called a builder. The compiler needs it to point diagnostics at a line; nothing else reads it, and it is
 * never part of a snapshot. An Error records its stack when created and formats it only when read, so keeping one is cheap.
 */
const sites = new WeakMap<object, Error>();

/** Records that `value` was made by the current call, and returns it. */
export function withSourceLocation<T extends object>(value: T): T {
  sites.set(value, new Error());
  return value;
}

/** Records that `value` was made where `source` was: a node that is built later belongs to its builder's call. */
export function withSourceLocationOf<T extends object>(value: T, source: unknown): T {
  const site = typeof source === "object" && source !== null ? sites.get(source) : undefined;
  if (site) sites.set(value, site);
  return value;
}

/** The stack of the call that made `value`; undefined if no builder made it, or if the author's modules have stacks formatted otherwise. */
export function stackOf(value: object): string | undefined {
  const stack: unknown = sites.get(value)?.stack;
  return typeof stack === "string" ? stack : undefined;
}

/** A member that the snapshot has only if it is true; a value that is not a boolean is passed on, for the validation to report. */
export function flag<Name extends string>(name: Name, value: boolean | undefined): { [Key in Name]?: true } {
  return (value === undefined || (value as unknown) === false ? {} : { [name]: value }) as { [Key in Name]?: true };
}

/** A declared part of a model, to be listed in `defineModel`. */
export interface Part<Kind extends string, Node> {
  readonly [PART]: Kind;
  readonly [LOWER]: () => Node;
}

/** A part of a model, located at the call that made it. The id is empty for kinds of which a model has only one part. */
interface DeclaredPart {
  kind: string;
  id: string;
}

const unlisted = new Set<DeclaredPart>();

/** The parts whose nodes have not been built: after a model was lowered to a snapshot, those that are not part of it. */
export function unlistedParts(): DeclaredPart[] {
  return [...unlisted];
}

/**
 * The members that make an object a part. Its node is built on request and located at the current call.
 *
 * @param id the id of a part; empty for kinds of which a model has only one. If undefined, `unlistedParts` does not report the part.
 */
export function part<Kind extends string, Node extends object>(
  kind: Kind,
  lower: () => Node,
  id?: string,
): Part<Kind, Node> {
  const site = withSourceLocation({ kind, id: id ?? "" });
  if (id !== undefined) unlisted.add(site);
  const build = () => {
    unlisted.delete(site);
    return withSourceLocationOf(lower(), site);
  };
  return { [PART]: kind, [LOWER]: build };
}

/** Occurrences of one event: all of them, or those that meet a filter, `order.where((p) => p.total.atLeast(50))`. */
export interface Selection {
  readonly [SELECTOR]: EventSelector;
}

/** The selector of a value; null, which the validation refuses, for a value without one. */
export function selectorOf(selection: Selection): EventSelector {
  return (selection as Partial<Selection> | null | undefined)?.[SELECTOR] ?? (null as never);
}

/** Makes a rule run, once in each evaluation in which it occurs. */
export interface Trigger {
  readonly [TRIGGER]: TriggerNode;
}

/** What a rule waits for: an event, an event that meets a filter (`invoicePaid.where(…)`), `traitsChanged`, entering or leaving a lifecycle
 * state, a segment or a health band, progress of a journey, or raising or clearing of a signal. */
export type Occasion = Trigger | Selection;

/** Wraps a node of the snapshot as a trigger. */
export function trigger(node: TriggerNode): Trigger {
  return { [TRIGGER]: withSourceLocation(node) };
}

/** For a rule's `on`: an identify operation changed at least one trait. */
export const traitsChanged: Trigger = { [TRIGGER]: { kind: "traitsChanged" } };

/** The snapshot node of what a rule waits for; null, which the validation refuses, for anything else. */
export function triggerOf(occasion: Occasion): TriggerNode {
  const { [TRIGGER]: node, [SELECTOR]: of } = (occasion as Partial<Trigger & Selection> | undefined) ?? {};
  return of ? { kind: "event", of } : (node ?? (null as never));
}
