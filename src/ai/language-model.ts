import { TransformStream } from "node:stream/web";
import type OpenAI from "openai";
import { fetch, type RequestInfo, type RequestInit, Response } from "undici";

/** A `fetch` that fails if an answer exceeds `bytesMax`, since a server may send endlessly, and on redirects, which would leak the facts and the key. */
function boundedFetch(bytesMax: number): typeof globalThis.fetch {
  const bounded = async (input: RequestInfo, init?: RequestInit): Promise<Response> => {
    const { body, status, statusText, headers } = await fetch(input, { ...init, redirect: "error" });
    let left = bytesMax;
    const counted = body?.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          left -= chunk.byteLength;
          if (left >= 0) controller.enqueue(chunk);
          else controller.error(new LanguageModelError("unavailable", `It answered more than ${bytesMax} bytes.`));
        },
      }),
    );
    return new Response(counted ?? null, { status, statusText, headers });
  };
  // undici's own types for the same classes.
  return bounded as unknown as typeof globalThis.fetch;
}

/** How to reach a language model: the values of SVC_AI_BASE_URL, SVC_AI_API_KEY and SVC_AI_MODEL. */
export interface LanguageModelSettings {
  baseUrl: string;
  apiKey: string | null;
  /** The model for questions that do not name one. */
  model: string;
  /** How long each part of an answer, also the first one, may take; 45 seconds by default. */
  partMsMax?: number;
  /** How long the whole answer may take; three minutes by default. */
  answerMsMax?: number;
}

interface Question {
  instructions: string;
  /** A JSON text. It is data, and is never mixed with the instructions. */
  facts: string;
  /** Overrides the model, or deployment, of the settings. */
  model?: string | undefined;
}

/** How an answer ended: `stop` if it is complete, `length` if the model's limit cut it off, `filtered` if the provider withheld the rest. */
interface Ending {
  model: string;
  finishReason: "stop" | "length" | "filtered";
  usage: { promptTokens: number; completionTokens: number } | null;
}

/** `working`: the provider signals activity without text yet, as reasoning models do. */
export type AnswerPart = { kind: "text"; text: string } | { kind: "working" } | ({ kind: "end" } & Ending);

const PART_MS_MAX = 45_000;
const ANSWER_MS_MAX = 180_000;
/** The most bytes of an answer as it is transferred; each token comes in a line of some 300 bytes. */
const ANSWER_BYTES_MAX = 4 * 1024 * 1024;
/** The longest text of an answer, enough for a long file. */
const TEXT_LENGTH_MAX = 128 * 1024;

/** A language model that is reached by the protocol of OpenAI's chat completions, which most providers and model servers support. */
export class LanguageModel {
  readonly #settings: LanguageModelSettings;
  #client: Promise<OpenAI> | undefined;

  constructor(settings: LanguageModelSettings) {
    this.#settings = settings;
  }

  /**
   * Asks a question, and yields the answer's text part by part as it is written, then how it ended. Requests are not retried. Throws the signal's reason
   * when aborted.
   * @throws {LanguageModelError} if there is no answer, or it breaks off
   */
  async *ask({ instructions, facts, model }: Question, signal: AbortSignal): AsyncGenerator<AnswerPart> {
    const { partMsMax = PART_MS_MAX, answerMsMax = ANSWER_MS_MAX } = this.#settings;
    const asked = model ?? this.#settings.model;
    const timeout = new AbortController();
    const giveUp = (after: number, what: string) =>
      setTimeout(() => timeout.abort(new LanguageModelError("late", `It ${what} ${after / 1000} seconds.`)), after);
    const overall = giveUp(answerMsMax, "was not done with its answer after");
    let silence = giveUp(partMsMax, "said nothing for");
    try {
      const client = await (this.#client ??= this.#connect());
      const body = {
        model: asked,
        messages: [
          { role: "system" as const, content: instructions },
          { role: "user" as const, content: facts },
        ],
        stream: true as const,
        stream_options: { include_usage: true },
      };
      const chunks = await client.chat.completions.create(body, { signal: AbortSignal.any([signal, timeout.signal]) });
      let ending: Ending | undefined;
      let length = 0;
      let isBlank = true;
      for await (const chunk of chunks) {
        clearTimeout(silence);
        silence = giveUp(partMsMax, "said nothing for");
        const { text, finishReason, usage } = read(chunk);
        if (text !== "") {
          length += text.length;
          isBlank &&= text.trim() === "";
          if (length > TEXT_LENGTH_MAX) throw new LanguageModelError("unavailable", "Its response is too long.");
          yield { kind: "text", text };
        } else if (finishReason === null && usage === null) yield { kind: "working" };
        if (finishReason !== null) ending = { model: asked, finishReason, usage: null };
        if (ending !== undefined && usage !== null) ending.usage = usage;
      }
      signal.throwIfAborted();
      timeout.signal.throwIfAborted();
      if (ending === undefined) throw new LanguageModelError("unavailable", "Its response ended early.");
      if (isBlank && ending.finishReason === "stop")
        throw new LanguageModelError("unavailable", "Its answer is empty.");
      yield { kind: "end", ...ending };
    } catch (error) {
      signal.throwIfAborted();
      throw timeout.signal.aborted ? timeout.signal.reason : languageModelErrorOf(error);
    } finally {
      clearTimeout(overall);
      clearTimeout(silence);
    }
  }

  /** Loads the library at the first question, because most processes never ask one. */
  async #connect(): Promise<OpenAI> {
    const { OpenAI: Client } = await import("openai");
    const { baseUrl, apiKey } = this.#settings;
    return new Client({
      baseURL: baseUrl,
      // A local model server needs no key, but the library requires one.
      apiKey: apiKey ?? "none",
      // Otherwise the library would read these from its own environment variables, and send the facts under another account.
      organization: null,
      project: null,
      webhookSecret: null,
      maxRetries: 0,
      timeout: ANSWER_MS_MAX,
      fetch: boundedFetch(ANSWER_BYTES_MAX),
      logLevel: "off",
    });
  }
}

/** Reads a part of an answer. Providers differ in its shape, so nothing about it is taken for granted. */
function read(chunk: unknown) {
  const { choices, usage } = object(chunk);
  const [first] = Array.isArray(choices) ? (choices as unknown[]) : [];
  const { delta, finish_reason: reason } = object(first);
  const { content } = object(delta);
  const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = object(usage);
  const isUsage = typeof promptTokens === "number" && typeof completionTokens === "number";
  return {
    text: typeof content === "string" ? content : "",
    finishReason: typeof reason === "string" ? finishReasonOf(reason) : null,
    usage: isUsage ? { promptTokens, completionTokens } : null,
  };
}

/** With any other reason than these two, such as the call of a tool that was never offered, the answer is incomplete. */
function finishReasonOf(reason: string): Ending["finishReason"] {
  return reason === "stop" || reason === "length" ? reason : "filtered";
}

function object(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

/** Why there is no answer, or no complete one. */
type FailureKind =
  /** The provider cannot be reached, fails, or uses another protocol. */
  | "unavailable"
  /** The provider does not accept the service's key. */
  | "keyRefused"
  /** The provider gets too many requests, or the account's credit is used up. */
  | "rateLimited"
  /** A part of the answer, or the whole answer, took too long. */
  | "late"
  /** The provider has no model of that name. */
  | "unknownModel";

/** A failure of the language model. `message` is a sentence that can be shown: it contains no text of the provider, which might include a key. */
export class LanguageModelError extends Error {
  override readonly name = "LanguageModelError";

  constructor(
    readonly kind: FailureKind,
    message: string,
    /** After how many seconds to ask again; null if the provider does not say. */
    readonly retryAfter: number | null = null,
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}

/** The most seconds to report; nobody waits longer at a terminal. */
const RETRY_AFTER_MAX = 3600;

/** Describes a provider's failure without any text that the provider wrote. */
function languageModelErrorOf(error: unknown): LanguageModelError {
  const own = ofOurs(error);
  if (own !== null) return own;
  const { status, headers, code } = error as { status?: unknown; headers?: unknown; code?: unknown };
  if (typeof status !== "number") {
    const message =
      error instanceof SyntaxError
        ? "Its response does not follow the protocol."
        : "It cannot be reached, or its answer broke off.";
    return new LanguageModelError("unavailable", message, null, error);
  }
  if (status === 429) return rateLimited(retryAfterOf(headers), error);
  const isTooLong = code === "context_length_exceeded" && ![401, 403, 404].includes(status);
  const message = MESSAGES[isTooLong ? 413 : status] ?? `Its server answered ${status}.`;
  return new LanguageModelError(KINDS[status] ?? "unavailable", message, null, error);
}

const KINDS: Readonly<Record<number, FailureKind>> = { 401: "keyRefused", 403: "keyRefused", 404: "unknownModel" };

const MESSAGES: Readonly<Record<number, string>> = {
  401: "It does not take the service's key.",
  403: "It does not take the service's key.",
  404: "It knows no such model, or its address is wrong.",
  413: "The facts are too long for it.",
};

/** The message includes the seconds, because its readers do not see the header. */
function rateLimited(retryAfter: number | null, cause: unknown): LanguageModelError {
  const until = retryAfter === null ? "for now" : `for ${retryAfter} seconds`;
  return new LanguageModelError("rateLimited", `It takes no more requests ${until}.`, retryAfter, cause);
}

function ofOurs(error: unknown): LanguageModelError | null {
  for (let one = error; one instanceof Error; one = one.cause) if (one instanceof LanguageModelError) return one;
  return null;
}

/** The whole seconds of a Retry-After header; null without them. An HTTP date is ignored, because clocks differ. */
function retryAfterOf(headers: unknown): number | null {
  const text = (headers as { get?: (name: string) => string | null } | undefined)?.get?.("retry-after") ?? null;
  return text !== null && /^\d{1,9}$/.test(text.trim()) ? Math.min(Number(text), RETRY_AFTER_MAX) : null;
}
