/**
 * The entry of the process in which the author's modules run: loads the configuration, turns it into a snapshot and sends that to the
 * compiler. Failures are sent as messages, too, so that nothing depends on the output. A guarded load continues after an exception, to
 * find the other mistakes as well: check/exception-guards.ts inserts calls of the functions that are installed here.
 */
import { ModelError, recoveryValue, takeRecorded, thrownText } from "../../dsl/mistakes.js";
import { MODEL } from "../../dsl/model.js";
import { lower, type Lowered } from "./lower.js";
import { watchVolatile } from "./volatile.js";

/** Stands for a value that could not be computed. Whatever is derived from it is valid where a condition is expected. */
const ERROR_PLACEHOLDER: unknown = recoveryValue();

/** Defines the globals that the rewritten sources use. `note` gets each exception that is not the consequence of another. */
function installGuards(note: (error: unknown) => void): void {
  let failures = 0;
  const guard = (compute: () => unknown): unknown => {
    const before = failures;
    try {
      return compute();
    } catch (error) {
      // After a failure inside of this value, its own failure is a consequence.
      if (failures === before) note(error);
      failures += 1;
      return ERROR_PLACEHOLDER;
    }
  };
  Object.assign(globalThis, { __svcGuard: guard, __svcHole: ERROR_PLACEHOLDER });
}

/** Removes placeholders from a model's definition, so that they are not reported as parts of the wrong kind. */
function removeErrorPlaceholders(definition: object): void {
  const parts = definition as Record<string, unknown>;
  for (const [name, part] of Object.entries(parts)) {
    if (part === ERROR_PLACEHOLDER) delete parts[name];
    if (typeof part !== "object" || part === null || !Object.values(part).includes(ERROR_PLACEHOLDER)) continue;
    // The members of a module cannot be deleted, so the list is replaced.
    parts[name] = Array.isArray(part)
      ? part.filter((item) => item !== ERROR_PLACEHOLDER)
      : Object.fromEntries(Object.entries(part).filter(([, item]) => item !== ERROR_PLACEHOLDER));
  }
}

/** An exception of the author's code, or of the language if it was used wrongly. */
export interface Thrown {
  name: string;
  message: string;
  stack?: string | undefined;
  /** Only of a ModelError, which is a mistake that the language found. */
  code?: string | undefined;
  fix?: string | undefined;
}

/** `thrown` has the exceptions that guards noted, or those that ended the load. */
export type RunnerMessage =
  | { kind: "lowered"; lowered: Lowered; thrown: Thrown[] }
  | { kind: "failed"; thrown: Thrown[] };

/** How a run of the author's modules ended. */
export type RunOutcome =
  | (RunnerMessage & { output: string })
  | { kind: "timedOut"; output: string }
  | { kind: "ended"; how: string; output: string };

/** Loads and lowers the configuration. The compiler kills the process after receiving the message. @public called by the entry that bundle.ts writes */
export async function run(load: () => Promise<Record<string, unknown>>): Promise<void> {
  // The author's code may change globals, so the functions needed later are saved first.
  const post = process.send?.bind(process) as (message: RunnerMessage) => void;
  // The compiler kills the process at the message, so the output is flushed first.
  const send = (message: RunnerMessage) => process.stdout.write("", () => post(message));
  let failed = false;
  const fail = (error: unknown) => {
    // Only the first failure is sent. If the compiler is gone, sending fails, too, and sending that failure would loop forever.
    if (failed) return;
    failed = true;
    restoreStacks();
    send({ kind: "failed", thrown: [...takeRecorded(), error].map(describe) });
  };
  // If the compiler is gone, nothing else ends this process.
  const exit = process.exit.bind(process);
  process.on("disconnect", () => exit(1));
  // Listening must not keep the process alive: an await that never resolves is reported by the end of the process.
  process.channel?.unref();
  const thrown: Thrown[] = [];
  installGuards((error) => thrown.push(describe(error)));
  process.on("uncaughtException", fail);
  process.on("unhandledRejection", fail);
  const volatile = watchVolatile();
  try {
    const exported = await load();
    restoreStacks();
    const model = exported["default"];
    if (typeof model === "object" && model !== null && MODEL in model) removeErrorPlaceholders(model[MODEL] as object);
    const lowered = lower(exported);
    lowered.problems.push(...volatile());
    send({ kind: "lowered", lowered, thrown });
  } catch (error) {
    fail(error);
  }
}

/** Has stacks, which are formatted when they are first read, formatted by Node.js, whatever the author's modules have set. */
function restoreStacks(): void {
  Reflect.deleteProperty(Error, "prepareStackTrace");
}

function describe(error: unknown): Thrown {
  try {
    return described(error);
  } catch {
    // Reading a member of it throws, such as a message that is computed.
    return { name: "", message: thrownText(error) };
  }
}

function described(error: unknown): Thrown {
  if (!(error instanceof Error)) return { name: "", message: thrownText(error) };
  // The author's modules may have set anything in an exception, or had its stack formatted before.
  const text = (value: unknown) => (typeof value === "string" ? value : undefined);
  const { name, message, stack } = error;
  const thrown = { name: text(name) ?? "", message: text(message) ?? "", stack: text(stack) };
  return error instanceof ModelError ? { ...thrown, code: error.code, fix: error.fix } : thrown;
}
