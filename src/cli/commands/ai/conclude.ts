import path from "node:path";

import type { Context } from "../../core/context.js";
import { type LocalCode, UserError } from "../../core/errors.js";
import { shellWord } from "../../output/text.js";
import { createFile, refuseExisting } from "../../output/write-file.js";
import type { AiTask } from "./facts.js";

/** What a command of `svc ai` came to. */
export interface AiOutcome {
  task: AiTask;
  /** As programs read them. */
  facts: Readonly<Record<string, unknown>>;
  answer: object | null;
  /** Why there is no answer, where one was asked for. */
  failure: UserError | null;
  /** What the file gets. */
  page: () => string;
  /** What that is, in words. */
  written: string;
}

/** Refuses a file that is there already, before any work is done. */
export async function refuseOutput({ io }: Context, output: string | undefined): Promise<void> {
  if (output !== undefined) await refuseExisting(path.resolve(io.cwd, output));
}

/**
 * Writes the file, unless the command was cancelled, and prints the one document that programs read. A file that cannot be written takes nothing
 * of it away.
 *
 * @throws {UserError} why there is no answer, or no file
 */
export async function conclude(context: Context, output: string | undefined, outcome: AiOutcome): Promise<void> {
  const { io, out } = context;
  const { task, facts, answer, page, written } = outcome;
  let { failure } = outcome;
  let file: string | null = null;
  if (output !== undefined && failure?.code !== ("CANCELLED" satisfies LocalCode)) {
    const wanted = path.resolve(io.cwd, output);
    try {
      await createFile(wanted, partsOf(page()));
      file = wanted;
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      failure ??= error;
    }
  }
  if (out.json) {
    out.result({ document: { task, facts, answer, problem: failure && problemOf(failure), output: file } }, () => "");
  } else if (file !== null) out.note(`Wrote ${written} to ${shellWord(output!)}.`);
  if (failure !== null) throw failure;
}

function problemOf({ code, message, fix, details: { reason } }: UserError): object {
  return { code, message, reason, fix };
}

async function* partsOf(text: string): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(Buffer.from(text));
}
