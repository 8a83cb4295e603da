import { inert } from "./inert.js";
import { attempt } from "./model-error.js";

/**
 * A value, or a function that returns it. Functions are called when the model is compiled, when every module has loaded, so they may
 * name what a module defines that itself imports this one: `to: { at_risk: () => quiet.has() }`.
 *
 * The names inside the function are checked as everywhere. That it returns a `T` is checked when the model is compiled: for the type of
 * `stages` not to depend on that of `quiet`, which depends on `stages`, the type checker must not look at what is returned.
 */
export type Lazy<T> = T | Deferred;

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the only type for which the checker does not infer what is returned
type Deferred = () => any;

/** What a lazy value stands for. Something absent is carried on, for the validation to report. */
export function resolve<T>(value: Lazy<T> | undefined): T {
  return (typeof value === "function" ? attempt(value as () => T, inert()) : value) as T;
}
