import path from "node:path";

import type { Context } from "../../core/command.js";
import { type LocalCode, UserError } from "../../core/errors.js";
import { cancellable } from "../../output/interruption.js";
import { shellWord } from "../../output/text.js";
import { createFile, refuseExisting } from "../../output/write-file.js";
import { ask, bodyOf, type Ending } from "./ask.js";
import type { AiTask, Facts } from "./facts.js";
import { LiveText } from "./live-text.js";

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
export interface ModelAnswer extends Ending {
  text: string;
}

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
  const { answer, failure } = await answerIfAny(context, values, facts);
  const toldPage = () => page(context, facts, answer);
  await conclude(context, values.output, { task, facts: document, answer, failure, page: toldPage, written: "it" });
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

/** Asks, unless there is nobody to ask, and shows the answer as it comes. */
async function answerIfAny(
  context: Context,
  { model }: AiValues,
  facts: Facts,
): Promise<{ answer: ModelAnswer | null; failure: UserError | null }> {
  const { out } = context;
  if (isForbidden(context)) return { answer: null, failure: null };
  const live = new LiveText(facts.restore);
  let text = "";
  const show = (part: string): void => {
    // What stands before the first word is not worth a heading.
    const more = text === "" ? part.trimStart() : part;
    if (more === "") return;
    if (!out.json) out.write(text === "" ? `\n${out.style.bold(HEADING)}\n\n${more}` : more);
    text += more;
  };
  try {
    const ending = await cancellable(async (stop) => {
      const parts = ask(context, { task: facts.task, facts: facts.sent, model }, stop);
      for (let next = await parts.next(); ; next = await parts.next()) {
        if (next.done === true) return next.value;
        show(live.add(next.value));
      }
    });
    show(live.end());
    if (!out.json) out.print("\n");
    noteEnding(context, ending);
    return { answer: { ...ending, text: text.trim() }, failure: null };
  } catch (error) {
    if (text !== "" && !out.json) out.print("\n");
    return noAnswer(context, error);
  }
}

/** What stands above an answer. */
const HEADING = "What the language model makes of it; check it against the facts above:";

/** Says that no language model is asked where that is forbidden. */
export function isForbidden({ aiForbiddenBy, out }: Context): boolean {
  if (aiForbiddenBy !== null) out.note(`No language model was asked (${aiForbiddenBy}): nothing was sent.`);
  return aiForbiddenBy !== null;
}

/** Why there is no answer. That the service has no language model is how it is set up, and no failure. */
export function noAnswer({ out }: Context, error: unknown): { answer: null; failure: UserError | null } {
  if (!(error instanceof UserError)) throw error;
  if (error.code !== "AI_NOT_CONFIGURED") return { answer: null, failure: error };
  out.note(`${error.message} These are the facts alone.`);
  return { answer: null, failure: null };
}

/** Says where an answer is not the whole of it. */
export function noteEnding({ out }: Context, { finishReason }: Ending): void {
  if (finishReason === "length") out.note("The answer was cut off at the language model's limit.");
  if (finishReason === "filtered") out.note("The provider withheld the rest of the answer.");
}

/** Facts and answer as a page of Markdown. */
function page({ out }: Context, { task, text, markdown }: Facts, answer: ModelAnswer | null): string {
  const facts =
    markdown?.trimEnd() ?? `# svc ai ${task}\n\n## Facts\n\n${block("text", `${text(out.forFile()).trimEnd()}\n`)}`;
  const said = answer === null ? [] : [`## What ${answer.model} makes of it`, answer.text];
  return `${[facts, ...said].join("\n\n")}\n`;
}

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
