/** Why there is no answer, or no whole one. */
export type FailureKind =
  /** It cannot be reached, fails, does not take the service's key, or speaks another protocol. */
  | "unavailable"
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
