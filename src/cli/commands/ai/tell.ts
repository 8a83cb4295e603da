import path from "node:path";

import type { Context } from "../../core/command.js";
import { type LocalCode, UserError } from "../../core/errors.js";
import { cancellable } from "../../output/interruption.js";
import { printable, shellWord } from "../../output/text.js";
import { createFile, refuseExisting } from "../../output/write-file.js";
import { type AiTask, ask, bodyOf, type Ending, type Facts } from "./ask.js";

/** A text as code within a line, whatever it holds. */
export function code(text: string): string {
  const shown = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, " ");
  const fence = "`".repeat(longestRun(shown) + 1);
  return shown.startsWith("`") || shown.endsWith("`") ? `${fence} ${shown} ${fence}` : `${fence}${shown}${fence}`;
}

/** A text, with the line break at its end, as a block of code, which nothing in it ends. */
export function block(language: string, text: string): string {
  const fence = "`".repeat(Math.max(3, longestRun(text) + 1));
  return `${fence}${language}\n${text}${fence}`;
}

function longestRun(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
}

/** What every command of `svc ai` is told. */
export interface AiValues {
  model: string | undefined;
  output: string | undefined;
  showContext: boolean;
}

/** What a language model said. */
type ModelAnswer = Ending & { text: string };

/**
 * Tells facts, then what a language model says of them. The facts are there first and whatever happens: a language model that fails is a
 * failure of the command, but takes none of them away.
 *
 * @param find finds them, once it is known that the file can be written
 */
export async function tell(context: Context, values: AiValues, find: () => Promise<Facts>): Promise<void> {
  const { out } = context;
  await refuseOutput(context, values.output);
  const facts = await find();
  if (showsContext(context, values, facts)) return;
  const { task, document } = facts;
  if (!out.json) out.print(facts.text(out));
  const outcome = await answered(context, (stop) => shownAnswer(context, values, facts, stop));
  const toldPage = () => page(context, facts, outcome.answer);
  await conclude(context, values.output, { task, facts: document, ...outcome, page: toldPage, written: "it" });
}

/** Prints exactly what would be sent where that is asked for, and says whether it was. */
export function showsContext(
  { out }: Context,
  { showContext, model }: AiValues,
  { task, sent }: Pick<Facts, "task" | "sent">,
): boolean {
  if (showContext) out.print(bodyOf({ task, facts: sent, model }));
  return showContext;
}

/** What stands above an answer. */
const HEADING = "What the language model makes of it; check it against the facts above:";

/** Asks, and shows the answer as it comes. */
async function shownAnswer(
  context: Context,
  { model }: AiValues,
  { task, sent, restore }: Facts,
  stop: AbortSignal,
): Promise<ModelAnswer> {
  const { out } = context;
  const live = new LiveText(restore);
  let text = "";
  const show = (part: string): void => {
    // What stands before the first word is not worth a heading.
    const more = text === "" ? part.trimStart() : part;
    if (more === "") return;
    if (!out.json) out.write(text === "" ? `\n${out.style.bold(HEADING)}\n\n${more}` : more);
    text += more;
  };
  let isWhole = false;
  try {
    const ending = await ask(context, { task, facts: sent, model }, stop, (part) => show(live.add(part)));
    show(live.end());
    isWhole = true;
    return { ...ending, text: text.trim() };
  } finally {
    if (!out.json && (isWhole || text !== "")) out.print("\n");
  }
}

/** An answer, or why there is none where one was asked for. */
interface Answered<Answer> {
  answer: Answer | null;
  failure: UserError | null;
}

/** Asks a language model, unless that is forbidden. That the service has none is how it is set up, and no failure. */
export async function answered<Answer extends Ending>(
  { aiForbiddenBy, out }: Context,
  askFor: (stop: AbortSignal) => Promise<Answer>,
): Promise<Answered<Answer>> {
  const none = { answer: null, failure: null };
  if (aiForbiddenBy !== null) {
    out.note(`No language model was asked (${aiForbiddenBy}): nothing was sent.`);
    return none;
  }
  try {
    const answer = await cancellable(askFor);
    if (answer.finishReason === "length") out.note("The answer was cut off at the language model's limit.");
    if (answer.finishReason === "filtered") out.note("The provider withheld the rest of the answer.");
    return { answer, failure: null };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    if (error.code !== "AI_NOT_CONFIGURED") return { answer: null, failure: error };
    out.note(`${error.message} These are the facts alone.`);
    return none;
  }
}

/** Facts and answer as a page of Markdown. */
function page({ out }: Context, { task, text, markdown }: Facts, answer: ModelAnswer | null): string {
  const facts =
    markdown?.trimEnd() ?? `# svc ai ${task}\n\n## Facts\n\n${block("text", `${text(out.forFile()).trimEnd()}\n`)}`;
  const said = answer === null ? [] : [`## What ${answer.model} makes of it`, answer.text];
  return `${[facts, ...said].join("\n\n")}\n`;
}

/** What a command of `svc ai` came to. */
interface AiOutcome extends Answered<object> {
  task: AiTask;
  /** As programs read them. */
  facts: Readonly<Record<string, unknown>>;
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

/** A text without spaces is not held back for ever. */
const HELD_MAX = 200;
/** Longer than any name that stands for an identifier, so that none is cut. */
const KEPT = 64;
/** The first half of a line break, or of a character. */
const HALF = /[\r\uD800-\uDBFF]$/;

/**
 * Makes the parts of a language model's answer fit to be shown as they come: what a terminal would obey is shown as an escape, and identifiers
 * are put back, also where their names come in two parts.
 */
export class LiveText {
  readonly #restore: (text: string) => string;
  #held = "";

  constructor(restore: (text: string) => string = (text) => text) {
    this.#restore = restore;
  }

  /** What may be shown now. */
  add(part: string): string {
    this.#held = this.#restore(this.#held + part);
    const space = this.#held.search(/[^\S\r][\S\r]*$/);
    const end = space >= 0 ? space + 1 : this.#held.length > HELD_MAX ? this.#held.length - KEPT : 0;
    return this.#take(HALF.test(this.#held.slice(0, end)) ? end - 1 : end);
  }

  /** The rest. */
  end(): string {
    return this.#take(this.#held.length);
  }

  #take(end: number): string {
    const text = this.#held.slice(0, end);
    this.#held = this.#held.slice(end);
    return shown(text);
  }
}

/** A text of several lines as it may be shown. */
export function shown(text: string): string {
  return text.replaceAll("\r\n", "\n").replaceAll("\t", "  ").split("\n").map(printable).join("\n");
}
