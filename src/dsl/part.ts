import type { EventSelector, Trigger as TriggerNode } from "../model/snapshot/types.js";

/**
 * The keys under which values of this language carry their parts of the snapshot. They are symbols, so that an editor does not offer
 * them to the author and no name of the author's meets them.
 */

/** Of a condition, an event (its schema), traits (their schema), a field: its node. */
export const NODE: unique symbol = Symbol("svc.node");
/** Of what can be counted, started from or followed: the occurrences of an event that it stands for. */
export const SELECTOR: unique symbol = Symbol("svc.selector");
/** Of what is a number: how it is measured. */
export const MEASURE: unique symbol = Symbol("svc.measure");
/** Of a trait: which one it is. */
export const TRAIT: unique symbol = Symbol("svc.trait");
/** Of a score: how it is made of a measure. */
export const SCORE: unique symbol = Symbol("svc.score");
/** Of what a rule can wait for. */
export const TRIGGER: unique symbol = Symbol("svc.trigger");
/** Of what a rule can do. */
export const ACTION: unique symbol = Symbol("svc.action");
/** Of an event that no condition is to read: true. */
export const RECORD_ONLY: unique symbol = Symbol("svc.recordOnly");
/** Of each declared part of a model: which kind it is of. */
export const PART: unique symbol = Symbol("svc.part");
/** Of each declared part: the function that makes its node. It is called when every module has loaded, since conditions may be functions. */
export const LOWER: unique symbol = Symbol("svc.lower");

/**
 * Where the author called a builder. The compiler needs it to point diagnostics at a line; nothing else reads it, and it is
 * never part of a snapshot. An Error records its stack when it is made and formats it when it is asked, so keeping one is cheap.
 */
const sites = new WeakMap<object, Error>();

/** Remembers that `value` was made by the present call, and returns it. */
export function withSourceLocation<T extends object>(value: T): T {
  sites.set(value, new Error());
  return value;
}

/** Remembers that `value` was made where `source` was: a node that is lowered later is at its builder's call. */
export function withSourceLocationOf<T extends object>(value: T, source: unknown): T {
  const site = typeof source === "object" && source !== null ? sites.get(source) : undefined;
  if (site) sites.set(value, site);
  return value;
}

/** The stack of the call that made `value`, or undefined for a value that no builder made. */
export function stackOf(value: object): string | undefined {
  return sites.get(value)?.stack;
}

/** A member that is in the snapshot only where it is true; what is no boolean is carried on, for the validation to report. */
export function flag<Name extends string>(name: Name, value: boolean | undefined): { [Key in Name]?: true } {
  return (value === undefined || (value as unknown) === false ? {} : { [name]: value }) as { [Key in Name]?: true };
}

/** A declared part of a model, to be listed in `defineModel`. */
export interface Part<Kind extends string, Node> {
  readonly [PART]: Kind;
  readonly [LOWER]: () => Node;
}

/** A part of a model, at the call that made it. Of those of which a model has one, the id is empty. */
interface DeclaredPart {
  kind: string;
  id: string;
}

const unlisted = new Set<DeclaredPart>();

/** The parts of which no node was made so far: once a model is lowered, those that are not part of it. */
export function unlistedParts(): DeclaredPart[] {
  return [...unlisted];
}

/**
 * What makes an object a part. Its node is made when it is asked for, and is located at the present call.
 *
 * @param id of a part that is listed; empty for a kind of which a model has one; none for what tells by itself that it is left out.
 */
export function part<Kind extends string, Node extends object>(
  kind: Kind,
  lower: () => Node,
  id?: string,
): Part<Kind, Node> {
  const site = withSourceLocation({ kind, id: id ?? "" });
  if (id !== undefined) unlisted.add(site);
  const made = () => {
    unlisted.delete(site);
    return withSourceLocationOf(lower(), site);
  };
  return { [PART]: kind, [LOWER]: made };
}

/** Occurrences of one event: an event itself, or those of an event that meet a filter, `order.where((p) => p.total.atLeast(50))`. */
export interface Selection {
  readonly [SELECTOR]: EventSelector;
}

/** The occurrences that a value stands for; null, which the validation refuses, for a value that stands for none. */
export function selectorOf(selection: Selection): EventSelector {
  return (selection as Partial<Selection> | null | undefined)?.[SELECTOR] ?? (null as never);
}

/** Something that makes a rule run, once for each evaluation in which it occurs. */
export interface Trigger {
  readonly [TRIGGER]: TriggerNode;
}

/** What a rule waits for: an event, an event that meets a filter (`invoicePaid.where(…)`), `traitsChanged`, a lifecycle state, a segment or
 * a health band entered or left, a turn of a journey, a signal raised or cleared. */
export type Occasion = Trigger | Selection;

/** Makes a trigger of its part of the snapshot. */
export function trigger(node: TriggerNode): Trigger {
  return { [TRIGGER]: withSourceLocation(node) };
}

/** For a rule's `on`: an identify operation changed at least one trait. */
export const traitsChanged: Trigger = { [TRIGGER]: { kind: "traitsChanged" } };

/** The snapshot's part of what a rule waits for; null, which the validation refuses, for anything else. */
export function triggerOf(occasion: Occasion): TriggerNode {
  const { [TRIGGER]: node, [SELECTOR]: of } = (occasion as Partial<Trigger & Selection> | undefined) ?? {};
  return of ? { kind: "event", of } : (node ?? (null as never));
}
