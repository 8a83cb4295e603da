import path from "node:path";

import { envelopeError, unexpected, unreachable } from "../../client/failures.js";
import type { Context } from "../../core/command.js";
import { failure, type LocalCode, UserError } from "../../core/errors.js";
import { cancellable } from "../../output/interruption.js";
import type { Out } from "../../output/out.js";
import { printable, shellWord } from "../../../words/text.js";
import { createFile, refuseExisting } from "../../output/write-file.js";

/** The commands of `svc ai`, by the second of their words. */
type AiTask =
  | "model-success"
  | "suggest-events"
  | "explain-config"
  | "debug-customer"
  | "why-not-activated"
  | "generate-instrumentation-plan";

/** What a command of `svc ai` found out by itself, without any language model. */
export interface Facts {
  task: AiTask;
  /** As a program reads them. */
  document: Readonly<Record<string, unknown>>;
  /** As people read them. */
  text: (out: Out) => string;
  /** As Markdown, for a file; what people read, in a block, unless given. */
  markdown?: string;
  /** What of them may be sent. */
  sent: Readonly<Record<string, unknown>>;
  /** Puts identifiers back into an answer, where others were sent instead. */
  restore?: (answer: string) => string;
  /** Where the answer is no text that is shown as it comes, but asked for until it is good. */
  draft?: {
    ask: (stop: AbortSignal) => Promise<Ending>;
    /** As people read it, once it is there. */
    text: () => string;
    /** For a file; what stands for it where there is none. */
    page: () => string;
    /** What that is, in words. */
    written: () => string;
  };
}

/** The service says something at least that often, or ends the answer. */
const SILENT_MS_MAX = 60_000;

/** What the service takes of a question. */
const QUESTION_BYTES_MAX = 256 * 1024;

/** How an answer ended, as the service tells it. */
export interface Ending {
  model: string;
  finishReason: "stop" | "length" | "filtered";
  usage: { promptTokens: number; completionTokens: number } | null;
}

/** What is asked about. */
type Question = Pick<Facts, "task" | "sent">;

/** What is sent for a question, to the last byte. */
function bodyOf({ task, sent: facts }: Question, model: string | undefined): string {
  return JSON.stringify({ task, facts, model });
}

/**
 * Asks the service's language model; `onText` gets what it says as it says it. Returns how it ended.
 * @throws {UserError} FACTS_TOO_LARGE, and nothing is sent; what the service refuses with, and where the answer breaks off
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
    if (error instanceof SyntaxError) throw unexpected(apiUrl, 200, "no JSON");
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
    "read the facts themselves, which are whole; --facts tells them alone",
  );
}

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

interface AiValues {
  facts: boolean;
  model: string | undefined;
  output: string | undefined;
  showContext: boolean;
}

type Answer = Ending & { text?: string };

/**
 * Tells facts, then what a language model says of them. The facts are there first and whatever happens: a language model that fails, or a file
 * that cannot be written, is a failure of the command, but takes none of them away. @param find is called once it is known that the file can be written
 * @throws {UserError} why there is no answer, or no file
 */
export async function tell(context: Context, values: AiValues, find: () => Promise<Facts>): Promise<void> {
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

const HEADING = "What the language model makes of it; check it against the facts above:";

/** Asks, and shows the answer as it comes. */
async function shownAnswer(context: Context, { model }: AiValues, facts: Facts, stop: AbortSignal): Promise<Answer> {
  const { out } = context;
  const live = new LiveText(facts.restore);
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
    // Also where it breaks off: what came is shown to its end.
    const asking = ask(context, facts, model, stop, (part) => show(live.add(part)));
    const ending = await asking.finally(() => show(live.end()));
    isWhole = true;
    return { ...ending, text: text.trim() };
  } finally {
    if (!out.json && (isWhole || text !== "")) out.print("\n");
  }
}

/** The answer, or why there is none. That the service has no language model is how it is set up, and no failure. */
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
  const said = answer === null ? [] : [`## What ${answer.model} makes of it`, answer.text ?? ""];
  return `${[facts, ...said].join("\n\n")}\n`;
}

/** A text without spaces is not held back for ever. */
const HELD_MAX = 200;
/** Longer than any name that stands for an identifier, so that none is cut. */
const KEPT = 64;
/** The first half of a line break, or of a character. */
const HALF = /[\r\uD800-\uDBFF]$/;

/** Makes parts of an answer fit to be shown as they come: what a terminal would obey is escaped; names are identifiers again, even in two parts. */
export class LiveText {
  readonly #restore: (text: string) => string;
  #held = "";

  constructor(restore: (text: string) => string = (text) => text) {
    this.#restore = restore;
  }

  add(part: string): string {
    this.#held = this.#restore(this.#held + part);
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

/** A text of several lines as it may be shown. */
export function printableLines(text: string): string {
  return text.replaceAll("\r\n", "\n").replaceAll("\t", "  ").split("\n").map(printable).join("\n");
}
