import type { Context } from "../../core/command.js";
import { refusal, unexpected, unreachable } from "../../client/api.js";
import { type LocalCode, UserError } from "../../core/errors.js";
import { messagesOf } from "../../client/server-sent.js";
import type { Facts } from "./facts.js";

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
 * Asks the service's language model, and gives what it says as it says it.
 *
 * @returns how it ended
 * @throws {UserError} FACTS_TOO_LARGE, and nothing is sent; what the service refuses with, and where the answer breaks off
 */
export async function* ask(
  { api, settings }: Context,
  question: AiQuestion,
  stop: AbortSignal,
): AsyncGenerator<string, Ending> {
  const { apiUrl } = settings;
  const silence = new AbortController();
  const signal = AbortSignal.any([stop, silence.signal]);
  const request = { type: "text/event-stream", signal, body: fitting(bodyOf(question)) };
  try {
    const chunks = await api.stream(["ai", "answers"], {}, request);
    const silent = () => silence.abort(new Error(`nothing came for ${SILENT_MS_MAX / 1000} seconds`));
    for await (const { event, data } of messagesOf(chunks, SILENT_MS_MAX, silent)) {
      const document = JSON.parse(data) as unknown;
      if (event === "text") yield (document as { text: string }).text;
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
  throw new UserError(
    "FACTS_TOO_LARGE" satisfies LocalCode,
    `the facts have ${bytes} bytes; at most ${QUESTION_BYTES_MAX} go to a language model, so nothing was sent`,
    "read the facts themselves, which are whole; --no-ai asks for them alone",
  );
}
