import type { Condition as ConditionNode, EventSelector, Measure as MeasureNode } from "../model/snapshot/types.js";
import { ModelError, record } from "./model-error.js";
import { MEASURE, NODE, SCORE, SELECTOR, TRIGGER } from "./part.js";

/** The node of a condition that could not be made. It is sound wherever a condition may stand, so that validation has nothing to add to
 * what was recorded already; filters on properties leave it out. */
export const RECOVERY_NODE: ConditionNode = { kind: "inactiveFor", duration: "1d" };

/** What an inert value says where a number or occurrences are asked for: something sound that is near the mistake. */
export interface RecoveryValues {
  measure?: MeasureNode | undefined;
  selector?: EventSelector | undefined;
}

/** A value to go on with after a mistake that is recorded: it has every member, can be called, and is whatever is needed. */
export function recoveryValue({ measure, selector }: RecoveryValues = {}): never {
  const nodes = new Map<string | symbol, unknown>([
    [NODE, RECOVERY_NODE],
    [SELECTOR, selector],
    [MEASURE, measure],
    [SCORE, measure && { kind: "scale", of: measure, from: 0, to: 1 }],
    [TRIGGER, { kind: "traitsChanged" }],
  ]);
  const value: object = new Proxy(() => undefined, {
    get: (_, key) => (typeof key === "symbol" ? nodes.get(key) : value),
    apply: () => value,
  });
  // There is no type for what stands in for everything.
  return value as never;
}

/** What a guarded object is called in a message. */
interface Guard {
  /** The code of the diagnostic. */
  code?: "UNKNOWN_PROPERTY" | "UNKNOWN_TRAIT" | "UNKNOWN_MEMBER";
  /** The whole of what is missing a member: `the event "order placed"`; none where there is only one such thing. */
  owner?: string;
  /** The member that is missing: `property`. Without it, a method. */
  member?: string;
  standIns?: RecoveryValues;
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
export function strictProxy<T extends object>(target: T, guard: Guard): T {
  return new Proxy(target, {
    get(_, key) {
      if (typeof key === "symbol" || key in target || PROBED.has(key)) return Reflect.get(target, key) as unknown;
      const { code = "UNKNOWN_MEMBER", owner, member = "method" } = guard;
      const missing = `no ${member} ${JSON.stringify(key)}`;
      const message = owner === undefined ? `there is ${missing}` : `${owner} has ${missing}`;
      const candidates = Object.keys(target).filter((name) => isQuestion(Reflect.get(target, name)));
      record(new ModelError(code, message, undefined, { name: key, candidates }));
      return recoveryValue(guard.standIns);
    },
  });
}
