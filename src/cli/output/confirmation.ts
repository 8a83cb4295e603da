// Prompts use `node:readline`: there are two kinds, "yes or no" and "type this word", and both must also work on a terminal without
// cursor movement and leave standard output clean. A prompt library would add widgets that nothing here uses.
import { createInterface } from "node:readline/promises";

import type { Context } from "../core/command.js";
import { cancelled, failure, type UserError } from "../core/errors.js";
import { onTermination } from "./interruption.js";
import type { Io } from "./out.js";
import { printable, shellWord } from "../../words/text.js";

/** How long to wait for a word on standard input that is not a terminal: long enough for `echo live |`, short enough not to hang on an idle pipe. */
const PIPED_WORD_MS_MAX = 2_000;
const PIPED_WORD_LENGTH_MAX = 1_000;

export interface ConfirmationOptions {
  /** The action to confirm, such as `deploying to live`. */
  action: string;
  yes: boolean;
  /** A word that must be typed or piped even with `--yes`, unless `yesSuffices`. */
  word?: string;
  yesSuffices?: true;
}

/** Whether to ask before acting: there is a terminal, and `--yes` was not given. */
export function shouldAsk({ io }: Context, yes: boolean): boolean {
  return !yes && canAsk(io);
}

/** Questions are shown on standard error, so that must be a terminal too. */
export function canAsk({ stdin, stderr }: Io): boolean {
  return stdin.isTTY === true && stderr.isTTY === true;
}

/**
 * Makes sure, before any work is done, that the user can be asked or has already answered; returns the function that asks.
 * @throws {UserError} CONFIRMATION_REQUIRED at once if there is no terminal; the returned function throws CANCELLED if the answer is no
 */
export async function confirmation(
  { io, out }: Context,
  { action, yes, word, yesSuffices }: ConfirmationOptions,
): Promise<(question: string) => Promise<void>> {
  const answered = () => Promise.resolve();

  if (yes && (word === undefined || yesSuffices)) return answered;
  if (word === undefined) {
    if (!canAsk(io)) throw required(`${action} needs a confirmation, and there is no terminal to ask on`, "add --yes");
    return async (question) => {
      const answer = await prompt(io, `${question} ${out.errorStyle.dim("(y/N)")} `);
      if (!/^y(es)?$/i.test(answer.trim())) throw cancelled();
    };
  }

  if (canAsk(io)) {
    return async (question) => {
      const answer = await prompt(io, `${question}\nType ${out.errorStyle.bold(printable(word))} to continue: `);
      if (answer.trim() !== word.trim()) throw cancelled();
    };
  }
  if ((await pipedLine(io)).trim() !== word.trim()) {
    const [instead, fix] = yesSuffices ? ["", ", or add --yes"] : [", also with --yes", ""];
    const message = `${action} needs the word "${printable(word)}" on standard input${instead}`;
    throw required(message, `pipe it: echo ${shellWord(word)} | svc …${fix}`);
  }
  return answered;
}

/** Asks a question and returns the typed line. @param signal ends the question, as Ctrl+C does @throws {UserError} CANCELLED */
export async function prompt(io: Io, question: string, signal?: AbortSignal): Promise<string> {
  const terminal = createInterface({ input: io.stdin, output: io.stderr, terminal: true });
  const cancellation = new Promise<never>((_resolve, reject) => {
    // Ctrl+C and Ctrl+D; without these handlers the question would stay open and the process end with a warning.
    terminal.once("SIGINT", () => {
      io.stderr.write("\n");
      reject(cancelled());
    });
    terminal.once("close", () => reject(cancelled()));
    signal?.addEventListener("abort", () => reject(cancelled()), { once: true });
  });
  // A process that ends during a question would leave the terminal without echo. Callers that pass a signal abort the question by it.
  const release = signal === undefined ? onTermination(() => terminal.close()) : undefined;
  try {
    return await Promise.race([terminal.question(question), cancellation]);
  } finally {
    terminal.close();
    release?.();
  }
}

/** Asks until there is a valid answer; an empty one means the default, if there is one. @param mistakeIn returns what is wrong with an answer */
export async function askUntil(
  { io, out }: Context,
  label: string,
  {
    otherwise,
    ending,
    mistakeIn,
  }: { otherwise: string | undefined; ending: string; mistakeIn: (answer: string) => string | undefined },
): Promise<string> {
  const shown = otherwise === undefined ? "" : ` ${out.errorStyle.dim(`(${otherwise})`)}`;
  while (true) {
    const answer = (await prompt(io, `${label}${shown}${ending} `)).trim();
    const value = answer === "" ? otherwise : answer;
    const mistake = mistakeIn(value ?? "");
    if (value !== undefined && mistake === undefined) return value;
    out.note(mistake ?? "");
  }
}

/** The first line of standard input, or what was read of it when input ends, grows too long, or the time is over. */
function pipedLine({ stdin }: Io): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const finish = () => {
      clearTimeout(timer);
      stdin.off("data", onData).off("end", finish).off("error", reject);
      stdin.pause();
      resolve(text.split("\n", 1)[0] ?? "");
    };
    const onData = (chunk: Buffer | string) => {
      text += chunk.toString();
      if (text.includes("\n") || text.length > PIPED_WORD_LENGTH_MAX) finish();
    };
    const timer = setTimeout(finish, PIPED_WORD_MS_MAX);
    stdin.on("data", onData).once("end", finish).once("error", reject);
  });
}

function required(message: string, fix: string): UserError {
  return failure("CONFIRMATION_REQUIRED", message, fix);
}
