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
export function languageModelErrorOf(error: unknown): LanguageModelError {
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
