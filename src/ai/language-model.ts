import { TransformStream } from "node:stream/web";
import type OpenAI from "openai";
import { fetch, type RequestInfo, type RequestInit, Response } from "undici";

/** `fetch` whose answers end with a failure beyond `bytesMax`: who answers may send a line without end. Redirects would take facts and key elsewhere. */
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

/** Where a language model is, as SVC_AI_BASE_URL, SVC_AI_API_KEY and SVC_AI_MODEL say. */
export interface LanguageModelSettings {
  baseUrl: string;
  apiKey: string | null;
  /** Used where a question names none. */
  model: string;
  /** How long each part of an answer may take, the first one included; 45 seconds unless given. */
  partMsMax?: number;
  /** How long an answer may take as a whole; three minutes unless given. */
  answerMsMax?: number;
}

interface Question {
  instructions: string;
  /** JSON text: data, which is never mixed with the instructions. */
  facts: string;
  /** Another model, or deployment, than that of the settings. */
  model?: string | undefined;
}

/** How an answer ended: `stop` where it is whole, `length` where the model's limit cut it off, `filtered` where the provider withheld the rest. */
interface Ending {
  model: string;
  finishReason: "stop" | "length" | "filtered";
  usage: { promptTokens: number; completionTokens: number } | null;
}

/** `working` where the provider shows that it is at work, and says nothing yet, as models do that think before they speak. */
export type AnswerPart = { kind: "text"; text: string } | { kind: "working" } | ({ kind: "end" } & Ending);

const PART_MS_MAX = 45_000;
const ANSWER_MS_MAX = 180_000;
/** Of an answer as it is sent; a part of a word comes in a line of some 300 bytes. */
const ANSWER_BYTES_MAX = 4 * 1024 * 1024;
/** Of an answer's text, which is that of a long file. */
const TEXT_LENGTH_MAX = 128 * 1024;

const FINISH_REASONS: Readonly<Record<string, Ending["finishReason"]>> = {
  stop: "stop",
  length: "length",
  content_filter: "filtered",
};

/** A language model behind the protocol of OpenAI's chat completions, which most providers and model servers speak. */
export class LanguageModel {
  readonly #settings: LanguageModelSettings;
  #client: Promise<OpenAI> | undefined;

  constructor(settings: LanguageModelSettings) {
    this.#settings = settings;
  }

  /**
   * Asks, and gives the answer's text part by part as it is written, then how it ended. Nothing is sent twice. Throws the signal's reason.
   * @throws {LanguageModelError} where there is no answer, or it breaks off
   */
  async *ask({ instructions, facts, model }: Question, signal: AbortSignal): AsyncGenerator<AnswerPart> {
    const { partMsMax = PART_MS_MAX, answerMsMax = ANSWER_MS_MAX } = this.#settings;
    const asked = model ?? this.#settings.model;
    const late = new AbortController();
    const giveUp = (after: number, what: string) =>
      setTimeout(() => late.abort(new LanguageModelError("late", `It ${what} ${after / 1000} seconds.`)), after);
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
      const chunks = await client.chat.completions.create(body, { signal: AbortSignal.any([signal, late.signal]) });
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
      late.signal.throwIfAborted();
      if (ending === undefined) throw new LanguageModelError("unavailable", "Its response ended early.");
      if (isBlank && ending.finishReason === "stop")
        throw new LanguageModelError("unavailable", "Its answer is empty.");
      yield { kind: "end", ...ending };
    } catch (error) {
      signal.throwIfAborted();
      throw late.signal.aborted ? late.signal.reason : languageModelErrorOf(error);
    } finally {
      clearTimeout(overall);
      clearTimeout(silence);
    }
  }

  /** Loaded when it is first asked, because most processes never are. */
  async #connect(): Promise<OpenAI> {
    const { OpenAI: Client } = await import("openai");
    const { baseUrl, apiKey } = this.#settings;
    return new Client({
      baseURL: baseUrl,
      // A model server on one's own machine asks for none, and the library for any.
      apiKey: apiKey ?? "none",
      // Its own variables would send the facts elsewhere, or in another's name.
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

/** A part of an answer. Its shape is the provider's say, so nothing of it is taken for granted. */
function read(chunk: unknown) {
  const { choices, usage } = object(chunk);
  const [first] = Array.isArray(choices) ? (choices as unknown[]) : [];
  const { delta, finish_reason: reason } = object(first);
  const { content } = object(delta);
  const { prompt_tokens: promptTokens, completion_tokens: completionTokens } = object(usage);
  const isUsage = typeof promptTokens === "number" && typeof completionTokens === "number";
  return {
    text: typeof content === "string" ? content : "",
    // A reason that is none of these, such as the call of a tool that was never offered, is no whole answer.
    finishReason: typeof reason === "string" ? (FINISH_REASONS[reason] ?? "filtered") : null,
    usage: isUsage ? { promptTokens, completionTokens } : null,
  };
}

function object(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

/** Why there is no answer, or no whole one. */
type FailureKind =
  /** It cannot be reached, fails, or speaks another protocol. */
  | "unavailable"
  /** It does not take the service's key. */
  | "keyRefused"
  /** It takes too many requests, or the account behind it is used up. */
  | "rateLimited"
  /** It was silent, or at work, for too long. */
  | "late"
  /** It has no model of that name. */
  | "unknownModel";

/** A failure of the language model. `message` is a sentence that may be shown: it holds nothing that the provider wrote, which may hold a key. */
export class LanguageModelError extends Error {
  override readonly name = "LanguageModelError";

  constructor(
    readonly kind: FailureKind,
    message: string,
    /** In how many seconds it may be asked again; null where it does not say. */
    readonly retryAfter: number | null = null,
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}

/** Longer than anybody waits at a terminal. */
const RETRY_AFTER_MAX = 3600;

/** What went wrong with a provider, in words that hold nothing of what it wrote. */
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

/** The seconds stand in the words as well: whoever reads them does not see the header. */
function rateLimited(retryAfter: number | null, cause: unknown): LanguageModelError {
  const until = retryAfter === null ? "for now" : `for ${retryAfter} seconds`;
  return new LanguageModelError("rateLimited", `It takes no more requests ${until}.`, retryAfter, cause);
}

function ofOurs(error: unknown): LanguageModelError | null {
  for (let one = error; one instanceof Error; one = one.cause) if (one instanceof LanguageModelError) return one;
  return null;
}

/** Whole seconds; null where the header says none. A date, which it may be, is told as none: clocks differ. */
function retryAfterOf(headers: unknown): number | null {
  const text = (headers as { get?: (name: string) => string | null } | undefined)?.get?.("retry-after") ?? null;
  return text !== null && /^\d{1,9}$/.test(text.trim()) ? Math.min(Number(text), RETRY_AFTER_MAX) : null;
}
