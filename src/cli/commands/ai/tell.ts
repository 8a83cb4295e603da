import path from "node:path";

import { envelopeError, unexpectedAnswer, unreachable } from "../../client/failures.js";
import type { aiOptions, Context, OptionValues } from "../../core/command.js";
import { failure, type LocalCode, UserError } from "../../core/errors.js";
import { cancellable } from "../../output/interruption.js";
import { block } from "../../output/markdown.js";
import type { Out } from "../../output/out.js";
import { printable, shellWord } from "../../../words/text.js";
import { createFile, refuseExisting } from "../../output/write-file.js";

/** The commands of `svc ai`, by their second word. */
type AiTask =
  | "model-success"
  | "suggest-events"
  | "explain-config"
  | "debug-customer"
  | "why-not-activated"
  | "generate-instrumentation-plan";

/** What a command of `svc ai` finds out by itself, without a language model. */
export interface Facts {
  task: AiTask;
  /** For programs. */
  document: Readonly<Record<string, unknown>>;
  /** For people. */
  text: (out: Out) => string;
  /** As Markdown, for a file; the text for people in a code block unless given. */
  markdown?: string;
  /** The part that may be sent. */
  sent: Readonly<Record<string, unknown>>;
  /** Replaces the pseudonyms in an answer by the original identifiers. */
  restore?: (answer: string) => string;
  /** Present if the answer is not streamed as text, but requested until it is valid. */
  draft?: {
    ask: (stop: AbortSignal) => Promise<Ending>;
    /** For people, once there is an answer. */
    text: () => string;
    /** For a file; a substitute if there is no answer. */
    page: () => string;
    /** What was written to the file, in words. */
    written: () => string;
  };
}

/** The service sends something at least this often, or ends the answer. */
const SILENT_MS_MAX = 60_000;

/** The service's limit for a question. */
const QUESTION_BYTES_MAX = 256 * 1024;

/** How an answer ended, as the service reports it. */
export interface Ending {
  model: string;
  finishReason: "stop" | "length" | "filtered";
  usage: { promptTokens: number; completionTokens: number } | null;
}

/** The task and the facts to ask about. */
type Question = Pick<Facts, "task" | "sent">;

/** The exact body that is sent for a question. */
function bodyOf({ task, sent: facts }: Question, model: string | undefined): string {
  return JSON.stringify({ task, facts, model });
}

/**
 * Asks the service's language model; `onText` receives the answer as it is streamed. Returns how it ended.
 * @throws {UserError} FACTS_TOO_LARGE before anything is sent; the service's refusals, and an answer that breaks off
 */
export async function ask(
  { api, settings }: Context,
  question: Question,
  model: string | undefined,
  stop: AbortSignal,
  onText: (part: string) => void,
): Promise<Ending> {
  const { apiUrl } = settings;
  const request = { silentMsMax: SILENT_MS_MAX, signal: stop, body: fitting(bodyOf(question, model)) };
  try {
    for await (const { event, data } of api.messages(["ai", "answers"], {}, request)) {
      const document = JSON.parse(data) as unknown;
      if (event === "text") onText((document as { text: string }).text);
      if (event === "end") return document as Ending;
      if (event === "error") throw envelopeError(apiUrl, 200, document, () => settings.credentials());
    }
  } catch (error) {
    if (error instanceof SyntaxError) throw unexpectedAnswer(apiUrl, 200, "no JSON");
    throw error instanceof UserError ? error : unreachable(apiUrl, error);
  }
  throw unreachable(apiUrl, new Error("the answer broke off"));
}

function fitting(body: string): string {
  const bytes = Buffer.byteLength(body);
  if (bytes <= QUESTION_BYTES_MAX) return body;
  throw failure(
    "FACTS_TOO_LARGE",
    `the facts have ${bytes} bytes; at most ${QUESTION_BYTES_MAX} go to a language model, so nothing was sent`,
    "read the facts themselves, which are complete; --facts shows them alone",
  );
}

type AiValues = OptionValues<typeof aiOptions>;

type Answer = Ending & { text?: string };

/**
 * Prints facts, then a language model's answer about them. The facts come first in any case: a language model that fails, or a file that
 * cannot be written, fails the command, but only after the facts are printed. @param find called once it is known that the file does not exist
 * @throws {UserError} if there is no answer, or no file
 */
export async function printFacts(context: Context, values: AiValues, find: () => Promise<Facts>): Promise<void> {
  const { io, out } = context;
  const { model, output, showContext } = values;
  const file = output === undefined ? null : path.resolve(io.cwd, output);
  if (file !== null) await refuseExisting(file);
  const facts = await find();
  const { task, document, draft } = facts;
  if (showContext) {
    out.print(bodyOf(facts, model));
    return;
  }
  if (!out.json) out.print(facts.text(out));
  const askFor = draft?.ask ?? ((stop) => shownAnswer(context, values, facts, stop));
  const outcome = values.facts ? { answer: null, failure: null } : await answered(context, askFor);
  const { answer } = outcome;
  let { failure } = outcome;
  if (draft !== undefined && answer !== null && !out.json) out.print(draft.text());

  let written: string | null = null;
  if (file !== null && failure?.code !== ("CANCELLED" satisfies LocalCode)) {
    try {
      await createFile(file, [draft?.page() ?? page(context, facts, answer)]);
      written = file;
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      failure ??= error;
    }
  }
  if (out.json) {
    const problem = failure && {
      code: failure.code,
      message: failure.message,
      reason: failure.details.reason,
      fix: failure.fix,
    };
    out.result({ document: { task, facts: document, answer, problem, output: written } }, () => "");
  } else if (written !== null) out.note(`Wrote ${draft?.written() ?? "it"} to ${shellWord(output!)}.`);
  if (failure !== null) throw failure;
}

const HEADING = "The language model's answer; check it against the facts above:";

/** Asks, and prints the answer as it is streamed. */
async function shownAnswer(context: Context, { model }: AiValues, facts: Facts, stop: AbortSignal): Promise<Answer> {
  const { out } = context;
  const live = new LiveText(facts.restore);
  let text = "";
  const show = (part: string): void => {
    // Whitespace before the first word is dropped, so that the heading appears only with the answer.
    const more = text === "" ? part.trimStart() : part;
    if (more === "") return;
    if (!out.json) out.write(text === "" ? `\n${out.style.bold(HEADING)}\n\n${more}` : more);
    text += more;
  };
  let isWhole = false;
  try {
    // If it breaks off, everything received is still shown.
    const asking = ask(context, facts, model, stop, (part) => show(live.add(part)));
    const ending = await asking.finally(() => show(live.end()));
    isWhole = true;
    return { ...ending, text: text.trim() };
  } finally {
    if (!out.json && (isWhole || text !== "")) out.print("\n");
  }
}

/** The answer, or why there is none. A service set up without a language model is no failure. */
async function answered(
  { out }: Context,
  askFor: (stop: AbortSignal) => Promise<Answer>,
): Promise<{ answer: Answer | null; failure: UserError | null }> {
  try {
    const answer = await cancellable(askFor);
    if (answer.finishReason === "length") out.note("The answer was cut off at the language model's limit.");
    if (answer.finishReason === "filtered") out.note("The provider withheld the rest of the answer.");
    return { answer, failure: null };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    if (error.code !== "AI_NOT_CONFIGURED") return { answer: null, failure: error };
    out.note(`${error.message} These are the facts alone.`);
    return { answer: null, failure: null };
  }
}

function page({ out }: Context, { task, text, markdown }: Facts, answer: Answer | null): string {
  const facts =
    markdown?.trimEnd() ?? `# svc ai ${task}\n\n## Facts\n\n${block("text", `${text(out.forFile()).trimEnd()}\n`)}`;
  const reply = answer === null ? [] : [`## The answer of ${answer.model}`, answer.text ?? ""];
  return `${[facts, ...reply].join("\n\n")}\n`;
}

/** Limit of text held back while waiting for a space. */
const HELD_MAX = 200;
/** Longer than any pseudonym, so that none is cut. */
const KEPT = 64;
/** Ends with the first half of a line break or of a surrogate pair. */
const HALF = /[\r\uD800-\uDBFF]$/;

/** Prepares streamed parts of an answer for display: escapes control characters, and restores identifiers even if their pseudonyms are split. */
export class LiveText {
  #held = "";

  constructor(private readonly restore: (text: string) => string = (text) => text) {}

  add(part: string): string {
    this.#held = this.restore(this.#held + part);
    const space = this.#held.search(/[^\S\r][\S\r]*$/);
    const end = space >= 0 ? space + 1 : this.#held.length > HELD_MAX ? this.#held.length - KEPT : 0;
    return this.#take(HALF.test(this.#held.slice(0, end)) ? end - 1 : end);
  }

  end(): string {
    return this.#take(this.#held.length);
  }

  #take(end: number): string {
    const text = this.#held.slice(0, end);
    this.#held = this.#held.slice(end);
    return printableLines(text);
  }
}

/** A text of several lines, safe to print. */
export function printableLines(text: string): string {
  return text.replaceAll("\r\n", "\n").replaceAll("\t", "  ").split("\n").map(printable).join("\n");
}
