/**
 * The entry of the process in which the author's modules run: loads the configuration, turns it into a snapshot and sends that to the
 * compiler. Everything that goes wrong is sent as well, so that nothing depends on what is printed.
 */
import { MODEL } from "../dsl/model.js";
import { ModelError, takeRecorded } from "../dsl/model-error.js";
import { installGuards, removeHoles } from "./hole.js";
import { lower } from "./lower.js";
import type { Lowered } from "./lower.js";

/** An exception of the author's code, or of the language where it was used in a wrong way. */
export interface Thrown {
  /** The class of the exception. */
  name: string;
  message: string;
  stack?: string | undefined;
  /** Of a ModelError, which is a mistake that the language found. */
  code?: string | undefined;
  fix?: string | undefined;
}

/** `thrown` is what guards noted, or what ended the load. */
export type Message = { kind: "lowered"; lowered: Lowered; thrown: Thrown[] } | { kind: "failed"; thrown: Thrown[] };

/**
 * Loads and lowers the configuration. The compiler ends the process when it has the message.
 *
 * @public called by the entry that bundle.ts writes
 */
export async function run(load: () => Promise<Record<string, unknown>>): Promise<void> {
  // The author's code is free to change globals; what is needed afterwards is kept before.
  const post = process.send?.bind(process) as (message: Message) => void;
  // The compiler ends the process at the message: what was printed goes before it.
  const send = (message: Message) => process.stdout.write("", () => post(message));
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
    if (typeof model === "object" && model !== null && MODEL in model) removeHoles(model[MODEL] as object);
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
