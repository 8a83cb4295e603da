/**
 * Where the author called a builder. The compiler needs it to point diagnostics at a line; nothing else reads it, and it is
 * never part of a snapshot. An Error records its stack when it is made and formats it when it is asked, so keeping one is cheap.
 */
const sites = new WeakMap<object, Error>();

/** Remembers that `value` was made by the present call, and returns it. */
export function located<T extends object>(value: T): T {
  sites.set(value, new Error());
  return value;
}

/** Remembers that `value` was made where `source` was: a node that is lowered later is at its builder's call. */
export function locatedAs<T extends object>(value: T, source: unknown): T {
  const site = typeof source === "object" && source !== null ? sites.get(source) : undefined;
  if (site) sites.set(value, site);
  return value;
}

/** The stack of the call that made `value`, or undefined for a value that no builder made. */
export function stackOf(value: object): string | undefined {
  return sites.get(value)?.stack;
}
