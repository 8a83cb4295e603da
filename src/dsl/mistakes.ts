import type {
  Condition as ConditionNode,
  Display,
  EventSelector,
  Measure as MeasureNode,
} from "../model/snapshot/types.js";
import { MEASURE, NODE, SCORE, SELECTOR, TRAIT, TRIGGER } from "./part.js";

/**
 * A mistake in a model that no snapshot could express, so that validating the snapshot cannot find it. Its stack leads to the author's
 * code. Builders record it and continue with a stand-in value, so that one run finds every mistake; they throw it only if they cannot
 * continue.
 */
export class ModelError extends Error {
  override readonly name = "ModelError";

  /**
   * @param code the stable code of the diagnostic, in capitals.
   * @param fix what to do about it, unless the message already says so.
   * @param misnamed a name that does not exist and those that do, so that the compiler can suggest the intended one.
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

/** A probable mistake that the snapshot no longer shows. It is recorded as a warning; the model still works. */
export class ModelWarning extends ModelError {}

const recorded: ModelError[] = [];

/** Records a mistake for the compiler. */
export function recordMistake(error: ModelError): void {
  recorded.push(error);
}

/** The mistakes recorded since the last call, in the order in which they were made. */
export function takeRecorded(): ModelError[] {
  return recorded.splice(0);
}

/** Calls a function of the author and returns its result. If it throws, records that at the place where it threw and returns a recovery value. */
export function attempt<T>(call: () => T): T {
  try {
    return call();
  } catch (error) {
    recordMistake(error instanceof ModelError ? error : modelFailure(error));
    return recoveryValue();
  }
}

function modelFailure(error: unknown): ModelError {
  const message = error instanceof Error ? `${error.name}: ${error.message}` : thrownText(error);
  const failure = new ModelError("MODEL_FAILED", `a function in the model failed: ${message}`);
  const stack: unknown = error instanceof Error ? error.stack : undefined;
  // The author's modules may have set anything.
  if (typeof stack === "string") failure.stack = stack;
  return failure;
}

/** What was thrown, as text, if it is no Error. */
export function thrownText(thrown: unknown): string {
  try {
    return String(thrown);
  } catch {
    // Such as an object without a prototype, which JavaScript cannot convert.
    return `${typeof thrown} that has no text`;
  }
}

/** The definition passed to a builder.
 *
 * @throws {ModelError} if it is not an object. */
export function definitionOf<T extends object>(definition: T, builder: string, needs: string): T {
  if (typeof (definition as unknown) === "object" && (definition as unknown) !== null) return definition;
  throw new ModelError("INVALID_DEFINITION", `${builder} needs an object with ${needs}`);
}

/** The members of a record; none if it is missing, which the validation reports. */
export function entriesOf<T>(record: Readonly<Record<string, T>> | null | undefined): [name: string, value: T][] {
  return Object.entries(record ?? {});
}

/** The node of a condition that could not be built. It is valid wherever a condition is allowed, so that the validation does not report
 * more than the recorded mistake; filters on properties leave it out. */
export const RECOVERY_NODE: ConditionNode = { kind: "inactiveFor", duration: "1d" };

/** Stands in for a trait that does not exist. */
export const RECOVERY_TRAIT = { name: "", type: "string" } as const;

/** The node of a display with a recorded mistake; such a display is left out of the snapshot. */
export const RECOVERY_DISPLAY: Display = {};

/** What a recovery value provides as a number or as occurrences: valid nodes close to the mistake. */
export interface RecoveryValues {
  measure?: MeasureNode | undefined;
  selector?: EventSelector | undefined;
}

/** A value to continue with after a recorded mistake: it has every member, can be called, and fits wherever a value is needed. */
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
  // It stands in for everything, so no type fits.
  return value as never;
}

/** How messages name a guarded object. */
interface Guard {
  /** The code of the diagnostic. */
  code?: "UNKNOWN_PROPERTY" | "UNKNOWN_TRAIT" | "UNKNOWN_MEMBER";
  /** The object that lacks the member: `the event "order placed"`; undefined if a model has only one such object. */
  owner?: string;
  /** The kind of the missing member: `property`; `method` by default. */
  member?: string;
  standIns?: RecoveryValues;
}

/** Names that Node.js or test tools read from any object. */
const PROBED = new Set(["then", "toJSON", ...Object.getOwnPropertyNames(Object.prototype)]);

/**
 * The same object, but reading a member that it does not have is recorded as the author's mistake, at its place, and returns a recovery
 * value. The type checker refuses such names in the editor; this is for authors who run the compiler without it.
 */
export function strictProxy<T extends object>(target: T, guard: Guard): T {
  return new Proxy(target, {
    get(_, key) {
      if (typeof key === "symbol" || key in target || PROBED.has(key)) return Reflect.get(target, key) as unknown;
      const { code = "UNKNOWN_MEMBER", owner, member = "method" } = guard;
      const missing = `no ${member} ${JSON.stringify(key)}`;
      const message = owner === undefined ? `there is ${missing}` : `${owner} has ${missing}`;
      // Only the members that authors use, not those that describe the object.
      const candidates = Object.keys(target).filter((name) =>
        ["function", "object"].includes(typeof Reflect.get(target, name)),
      );
      recordMistake(new ModelError(code, message, undefined, { name: key, candidates }));
      return recoveryValue(guard.standIns);
    },
  });
}
