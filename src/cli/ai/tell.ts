import path from "node:path";

import type { Context } from "../context.js";
import { UserError } from "../errors.js";
import { cancellable } from "../interruption.js";
import { shellWord } from "../text.js";
import { createFile, refuseExisting } from "../write-file.js";
import { ask, bodyOf } from "./ask.js";
import type { Ending } from "./ask.js";
import type { Facts } from "./facts.js";
import { LiveText } from "./live-text.js";

/** What every command of `svc ai` is told. */
export interface AiValues {
  model: string | undefined;
  output: string | undefined;
  showContext: boolean;
}

/** What a language model said. */
export interface Answer extends Ending {
  text: string;
}

/** Refuses a file that is there already, before any work is done. Returns its absolute path. */
export async function fileOf({ io }: Context, output: string | undefined): Promise<string | undefined> {
  if (output === undefined) return undefined;
  const file = path.resolve(io.cwd, output);
  await refuseExisting(file);
  return file;
}

/**
 * Tells facts, then what a language model says of them. The facts are there first and whatever happens: a language model that fails is a
 * failure of the command, but takes none of them away.
 */
export async function tell(context: Context, values: AiValues, facts: Facts): Promise<void> {
  const { out } = context;
  const file = await fileOf(context, values.output);
  if (showsContext(context, values, facts)) return;
  const { task, document } = facts;
  if (!out.json) out.print(facts.text(out));
  const { answer, failure } = await answerIfAny(context, values, facts);
  if (file !== undefined) await write(file, page(context, facts, answer));
  if (out.json) {
    const problem = failure && { code: failure.code, message: failure.message, fix: failure.fix };
    out.result(
      { document: { task, facts: document, answer, problem: problem ?? null, output: file ?? null } },
      () => "",
    );
  } else if (file !== undefined) out.note(`Wrote it to ${shellWord(values.output!)}.`);
  if (failure !== null) throw failure;
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
): Promise<{ answer: Answer | null; failure: UserError | null }> {
  const { out } = context;
  if (isForbidden(context)) return { answer: null, failure: null };
  const live = new LiveText(facts.restore);
  let text = "";
  const show = (part: string): void => {
    if (part === "") return;
    if (!out.json) out.write(text === "" ? `\n${out.style.bold(HEADING)}\n\n${part.trimStart()}` : part);
    text += part;
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
function page({ out }: Context, { task, text, markdown }: Facts, answer: Answer | null): string {
  const facts = markdown?.trimEnd() ?? `# svc ai ${task}\n\n## Facts\n\n${fenced(text(out.forFile()).trimEnd())}`;
  const said = answer === null ? [] : [`## What ${answer.model} makes of it`, answer.text];
  return `${[facts, ...said].join("\n\n")}\n`;
}

/** A text as a block of Markdown, which nothing in it ends. */
function fenced(text: string): string {
  const fence = "`".repeat(Math.max(3, ...(text.match(/`+/g) ?? []).map(({ length }) => length + 1)));
  return `${fence}text\n${text}\n${fence}`;
}

/** Writes a file that was not there. */
export function write(file: string, text: string): Promise<void> {
  return createFile(file, partsOf(text));
}

async function* partsOf(text: string): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(Buffer.from(text));
}
