// Prompts use `node:readline`: there are two kinds, "yes or no" and "type this word", and both must also work on a terminal without
// cursor movement and leave standard output clean. A prompt library would add widgets that nothing here uses.
import { createInterface } from "node:readline/promises";

import type { Organization, Whoami } from "../../http/admin/answers.js";
import { mayHaveSucceeded } from "../client/failures.js";
import type { Context } from "../core/command.js";
import { cancelled, failure, UserError } from "../core/errors.js";
import type { Environment, Settings } from "../core/settings.js";
import { onTermination, untilInterrupted } from "./interruption.js";
import type { Io, Out } from "./out.js";
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

/** An organization, for the confirmation question. */
export function inOrganization({ apiUrl }: Settings, { slug }: Organization): string {
  return `organization ${printable(slug)} at ${apiUrl}`;
}

/** The organization that changes are made in, for the confirmation question. */
export async function organizationPlace({ api, settings }: Context): Promise<string> {
  const { data } = await api.get<Whoami>("/whoami", ["user", "organization"]);
  return inOrganization(settings, data.organization);
}

/** A change to make once the user confirms; `--yes` suffices even if a word is asked for. `Known` is the result of `before`. */
export interface ConfirmedChange<T, Known = void> extends Omit<ConfirmationOptions, "yesSuffices"> {
  /** The kind of its target: the environment of a project unless given. */
  of?: "organization";
  /** Reads something before the change, also with `--yes`. */
  before?: () => Promise<Known>;
  question: (place: string, known: Known) => string | Promise<string>;
  /** The command that shows whether the change was made, in backticks. */
  seen: string;
  request: (signal: AbortSignal, known: Known) => Promise<T>;
}

/** Asks whether to make a change, and makes it. Missing settings or credentials fail before the question. */
export async function confirmAndRun<T, Known = void>(
  context: Context,
  { of, before, question, seen, request, ...what }: ConfirmedChange<T, Known>,
): Promise<T> {
  const place = of === undefined ? context.settings.place : undefined;
  context.settings.credentials();
  const confirm = await confirmation(context, { ...what, ...(what.word !== undefined && { yesSuffices: true }) });
  const known = (await before?.()) as Known;
  if (!what.yes) await confirm(await question(place ?? (await organizationPlace(context)), known));
  return sendChange(seen, (signal) => request(signal, known));
}

/**
 * Sends a request that changes something. After Ctrl+C, a broken connection or the answer of a proxy, it is unknown whether the change was
 * made. @param seen the command that shows whether it was, in backticks @throws {UserError} OUTCOME_UNKNOWN
 */
export function sendChange<T>(seen: string, request: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stopped = (error: unknown): never => {
    throw outcomeUnknown("stopped before the service answered", seen, error);
  };
  return untilInterrupted((signal) => sendUninterrupted(seen, () => request(signal)), stopped);
}

/** The same without Ctrl+C. @param seen the command or the tool that shows whether the change was made */
export async function sendUninterrupted<T>(seen: string, request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    throw error instanceof UserError && mayHaveSucceeded(error) ? outcomeUnknown(error.message, seen, error) : error;
  }
}

/** The failure of a request whose outcome is unknown. */
function outcomeUnknown(why: string, seen: string, cause: unknown): UserError {
  const message = `${why}; it is not known whether this was carried out`;
  return failure("OUTCOME_UNKNOWN", message, `see for yourself: ${seen}`, cause);
}

/** The note after another model became active in an environment with customers. */
export function recomputeHint(out: Out, environment: Environment): string {
  const recompute = out.typed(`svc recompute --all --env ${environment}`);
  return [
    "Customers keep their present state until something happens to them, or they are recomputed:",
    `  ${recompute} --dry-run   shows what that would change`,
    `  ${recompute}             does it`,
  ].join("\n");
}
