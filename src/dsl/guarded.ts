import type { StandIns } from "./inert.js";
import { inert } from "./inert.js";
import { ModelError, record } from "./model-error.js";

/** What a guarded object is called in a message. */
export interface Guard {
  /** The code of the diagnostic. */
  code?: "UNKNOWN_PROPERTY" | "UNKNOWN_TRAIT" | "UNKNOWN_MEMBER";
  /** The whole of what is missing a member: `the event "order placed"`; none where there is only one such thing. */
  owner?: string;
  /** The member that is missing: `property`. Without it, a method. */
  member?: string;
  standIns?: StandIns;
}

/** Names that Node.js or a test asks any object for. */
const PROBED = new Set(["then", "toJSON", ...Object.getOwnPropertyNames(Object.prototype)]);

/** Whether a member is there to be asked or called, rather than to tell what the object is. */
function isQuestion(member: unknown): boolean {
  return typeof member === "function" || typeof member === "object";
}

/**
 * The same object, but asking it for a member that it does not have is recorded as the author's mistake, at its place, and answered with
 * an inert value. The type checker refuses such names in the editor; this is for those who run the compiler without it.
 */
export function guarded<T extends object>(target: T, guard: Guard): T {
  return new Proxy(target, {
    get(_, key) {
      if (typeof key === "symbol" || key in target || PROBED.has(key)) return Reflect.get(target, key) as unknown;
      const { code = "UNKNOWN_MEMBER", owner, member = "method" } = guard;
      const missing = `no ${member} ${JSON.stringify(key)}`;
      const message = owner === undefined ? `there is ${missing}` : `${owner} has ${missing}`;
      const candidates = Object.keys(target).filter((name) => isQuestion(Reflect.get(target, name)));
      record(new ModelError(code, message, undefined, { name: key, candidates }));
      return inert(guard.standIns);
    },
  });
}
