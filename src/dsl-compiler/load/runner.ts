/**
 * The entry of the process in which the author's modules run: loads the configuration, turns it into a snapshot and sends that to the
 * compiler. Everything that goes wrong is sent as well, so that nothing depends on what is printed. A load goes on after an exception, so
 * that it finds the other mistakes too; check/guards.ts writes the calls of what is installed here for that.
 */
import { ModelError, recoveryValue, takeRecorded } from "../../dsl/mistakes.js";
import { MODEL } from "../../dsl/model.js";
import { lower, type Lowered } from "./lower.js";

/** Stands for a value that could not be computed: whatever is made of it is sound where a condition may stand. */
const ERROR_PLACEHOLDER: unknown = recoveryValue();

/** Makes the guards known to the rewritten sources; `note` gets each exception that is not the consequence of another. */
function installGuards(note: (error: unknown) => void): void {
  let failures = 0;
  const guard = (compute: () => unknown): unknown => {
    const before = failures;
    try {
      return compute();
    } catch (error) {
      // What fails after one of its parts did has been told already.
      if (failures === before) note(error);
      failures += 1;
      return ERROR_PLACEHOLDER;
    }
  };
  Object.assign(globalThis, { __svcGuard: guard, __svcHole: ERROR_PLACEHOLDER });
}

/** Takes holes out of a model's definition, so that they are not reported as parts of the wrong kind. */
function removeErrorPlaceholders(definition: object): void {
  const parts = definition as Record<string, unknown>;
  for (const [name, part] of Object.entries(parts)) {
    if (part === ERROR_PLACEHOLDER) delete parts[name];
    if (typeof part !== "object" || part === null || !Object.values(part).includes(ERROR_PLACEHOLDER)) continue;
    // The members of a module cannot be removed.
    parts[name] = Array.isArray(part)
      ? part.filter((item) => item !== ERROR_PLACEHOLDER)
      : Object.fromEntries(Object.entries(part).filter(([, item]) => item !== ERROR_PLACEHOLDER));
  }
}

/** An exception of the author's code, or of the language where it was used in a wrong way. */
export interface Thrown {
  name: string;
  message: string;
  stack?: string | undefined;
  /** Of a ModelError, which is a mistake that the language found. */
  code?: string | undefined;
  fix?: string | undefined;
}

/** `thrown` is what guards noted, or what ended the load. */
export type RunnerMessage =
  | { kind: "lowered"; lowered: Lowered; thrown: Thrown[] }
  | { kind: "failed"; thrown: Thrown[] };

/** How a run of the author's modules ended. */
export type RunOutcome =
  | (RunnerMessage & { output: string })
  | { kind: "timedOut"; output: string }
  | { kind: "ended"; how: string; output: string };

/** Loads and lowers the configuration. The compiler ends the process when it has the message. @public called by the entry that bundle.ts writes */
export async function run(load: () => Promise<Record<string, unknown>>): Promise<void> {
  // The author's code is free to change globals; what is needed afterwards is kept before.
  const post = process.send?.bind(process) as (message: RunnerMessage) => void;
  // The compiler ends the process at the message: what was printed goes before it.
  const send = (message: RunnerMessage) => process.stdout.write("", () => post(message));
  let failed = false;
  const fail = (error: unknown) => {
    // The compiler hears the first only. Where it is gone, telling fails as well, and telling that would never end.
    if (failed) return;
    failed = true;
    send({ kind: "failed", thrown: [...takeRecorded(), error].map(describe) });
  };
  // Where the compiler is gone, nobody else ends this process.
  const exit = process.exit.bind(process);
  process.on("disconnect", () => exit(1));
  // Listening must not keep the process alive: an await that never ends is told by its end.
  process.channel?.unref();
  const thrown: Thrown[] = [];
  installGuards((error) => thrown.push(describe(error)));
  process.on("uncaughtException", fail);
  process.on("unhandledRejection", fail);
  try {
    const exported = await load();
    const model = exported["default"];
    if (typeof model === "object" && model !== null && MODEL in model) removeErrorPlaceholders(model[MODEL] as object);
    send({ kind: "lowered", lowered: lower(exported), thrown });
  } catch (error) {
    fail(error);
  }
}

function describe(error: unknown): Thrown {
  if (error instanceof ModelError) {
    const { name, message, stack, code, fix } = error;
    return { name, message, stack, code, fix };
  }
  if (!(error instanceof Error)) return { name: "", message: String(error) };
  return { name: error.name, message: error.message, stack: error.stack };
}
