/**
 * The entry of the process in which the author's modules run: loads the configuration, turns it into a snapshot and sends that to the
 * compiler. Everything that goes wrong is sent as well, so that nothing depends on what is printed.
 */
import { lower } from "./lower.js";
import type { Lowered } from "./lower.js";

export type Message =
  { kind: "lowered"; lowered: Lowered } | { kind: "failed"; message: string; stack?: string | undefined };

/**
 * Loads and lowers the configuration. The compiler ends the process when it has the message.
 *
 * @public called by the entry that bundle.ts writes
 */
export async function run(load: () => Promise<Record<string, unknown>>): Promise<void> {
  // The author's code is free to change globals; what is needed afterwards is kept before.
  const send = process.send?.bind(process) as (message: Message) => void;
  const fail = (error: unknown) => send(failure(error));
  process.on("uncaughtException", fail);
  process.on("unhandledRejection", fail);
  try {
    send({ kind: "lowered", lowered: lower(await load()) });
  } catch (error) {
    fail(error);
  }
}

function failure(error: unknown): Message {
  if (!(error instanceof Error)) return { kind: "failed", message: String(error) };
  return { kind: "failed", message: `${error.name}: ${error.message}`, stack: error.stack };
}
