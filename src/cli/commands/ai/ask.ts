import type { Context } from "../../core/command.js";
import type { Out } from "../../output/out.js";
import { refusal, unexpected, unreachable } from "../../client/failures.js";
import { failure, UserError } from "../../core/errors.js";
import { messagesOf } from "../../client/server-sent.js";

/** The commands of `svc ai`, by the second of their words. */
export type AiTask =
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
  /** Where the answer is no text that is shown as it comes. */
  draft?: DraftedAnswer;
}

/** An answer that is asked for until it is good. */
export interface DraftedAnswer {
  ask: (stop: AbortSignal) => Promise<Ending>;
  /** As people read it, once it is there. */
  text: () => string;
  /** For a file; what stands for it where there is none. */
  page: () => string;
  /** What that is, in words. */
  written: () => string;
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

export interface AiQuestion {
  task: Facts["task"];
  facts: Facts["sent"];
  model?: string | undefined;
}

/** What is sent for a question, to the last byte. */
export function bodyOf({ task, facts, model }: AiQuestion): string {
  return JSON.stringify({ task, facts, ...(model === undefined ? {} : { model }) });
}

/**
 * Asks the service's language model; `onText` gets what it says as it says it. Returns how it ended.
 * @throws {UserError} FACTS_TOO_LARGE, and nothing is sent; what the service refuses with, and where the answer breaks off
 */
export async function ask(
  { api, settings }: Context,
  question: AiQuestion,
  stop: AbortSignal,
  onText: (part: string) => void,
): Promise<Ending> {
  const { apiUrl } = settings;
  const request = { silentMsMax: SILENT_MS_MAX, signal: stop, body: fitting(bodyOf(question)) };
  try {
    for await (const { event, data } of messagesOf(api, ["ai", "answers"], {}, request)) {
      const document = JSON.parse(data) as unknown;
      if (event === "text") onText((document as { text: string }).text);
      if (event === "end") return document as Ending;
      if (event === "error") throw refusal(apiUrl, 200, document, () => settings.credentials());
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
    "read the facts themselves, which are whole; --no-ai asks for them alone",
  );
}
