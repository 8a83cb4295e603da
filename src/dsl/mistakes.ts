import type {
  Condition as ConditionNode,
  Display,
  EventSelector,
  Measure as MeasureNode,
} from "../model/snapshot/types.js";
import { MEASURE, NODE, SCORE, SELECTOR, TRAIT, TRIGGER } from "./part.js";

/**
 * A mistake in a model that no snapshot could express, so that validating the snapshot cannot find it. Its stack leads to the author's
 * place. Builders record it and go on with a value that stands in, so that one run finds every mistake; they throw it only where there
 * is nothing to go on with.
 */
export class ModelError extends Error {
  override readonly name = "ModelError";

  /**
   * @param code stable, in capitals, as every diagnostic has one.
   * @param fix what to do about it, where that is not what the message says already.
   * @param misnamed a name that does not exist and those that do, for the compiler to find the one that was meant.
   */
  constructor(
    readonly code: string,
    message: string,
    readonly fix?: string,
    readonly misnamed?: { name: string; candidates: readonly string[] },
  ) {
    super(message);
  }
}

/** Something that no snapshot shows any more, and that its author will hardly have meant. It is recorded, and keeps nothing from working. */
export class ModelWarning extends ModelError {}

const recorded: ModelError[] = [];

/** Keeps a mistake for the compiler. */
export function recordMistake(error: ModelError): void {
  recorded.push(error);
}

/** The mistakes recorded since the last call, in the order in which they were made. */
export function takeRecorded(): ModelError[] {
  return recorded.splice(0);
}

/** What a function of the author's returns; a stand-in where it throws, which is recorded at the place where it threw. */
export function attempt<T>(call: () => T, standIn: T): T {
  try {
    return call();
  } catch (error) {
    if (error instanceof ModelError) {
      recordMistake(error);
      return standIn;
    }
    const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    const failed = new ModelError("MODEL_FAILED", `a function of the model failed: ${message}`);
    if (error instanceof Error && error.stack !== undefined) failed.stack = error.stack;
    recordMistake(failed);
    return standIn;
  }
}

/** What a builder was given to build from.
 *
 * @throws {ModelError} if it was given nothing. */
export function definitionOf<T extends object>(definition: T, builder: string, needs: string): T {
  if (typeof (definition as unknown) === "object" && (definition as unknown) !== null) return definition;
  throw new ModelError("INVALID_DEFINITION", `${builder} needs an object with ${needs}`);
}

/** The members of a record; none of what got past the type checker without it, which the validation refuses. */
export function entriesOf<T>(record: Readonly<Record<string, T>> | null | undefined): [name: string, value: T][] {
  return Object.entries(record ?? {});
}

/** The node of a condition that could not be made. It is sound wherever a condition may stand, so that validation has nothing to add to
 * what was recorded already; filters on properties leave it out. */
export const RECOVERY_NODE: ConditionNode = { kind: "inactiveFor", duration: "1d" };

/** What a trait that does not exist says that it is. */
export const RECOVERY_TRAIT = { name: "", type: "string" } as const;

/** The node of a display with a mistake that was recorded: the display is left out of the snapshot. */
export const RECOVERY_DISPLAY: Display = {};

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
    [TRAIT, RECOVERY_TRAIT],
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
      // Those that are there to be asked or called, rather than to tell what the object is.
      const candidates = Object.keys(target).filter((name) =>
        ["function", "object"].includes(typeof Reflect.get(target, name)),
      );
      recordMistake(new ModelError(code, message, undefined, { name: key, candidates }));
      return recoveryValue(guard.standIns);
    },
  });
}
