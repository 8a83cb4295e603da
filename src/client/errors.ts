import type { SentOperation } from "./types.js";

/** One problem of an operation, as reported by the service. */
export interface Diagnostic {
  code: string;
  message: string;
  path: string;
}

/**
 * Why operations were not accepted. `code` is one of the service (`IDEMPOTENCY_CONFLICT`, `UNKNOWN_EVENT`, `INVALID_API_KEY`), or one of the client:
 * `QUEUE_FULL`, `CLOSED`, `TIMEOUT`, `BATCH_REFUSED`, and for requests that are retried `UNREACHABLE` and `UNEXPECTED_ANSWER`.
 */
export class ClientError extends Error {
  override readonly name: string = "ClientError";
  readonly code: string;
  /** The HTTP status of the answer; null if there was none. */
  readonly status: number | null;
  /** The path of the mistake in the operation, such as `properties.amount`; null if the service does not name one. */
  readonly field: string | null;
  /** How to correct it, as the service suggests. */
  readonly fix: string | null;
  /** The id of the request in the service's log. */
  readonly requestId: string | null;
  readonly diagnostics: readonly Diagnostic[];
  /** The operation that was not accepted; null if the error does not concern a single operation. */
  readonly operation: SentOperation | null;

  constructor(code: string, message: string, details: Details = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.status = details.status ?? null;
    this.field = details.field ?? null;
    this.fix = details.fix ?? null;
    this.requestId = details.requestId ?? null;
    this.diagnostics = details.diagnostics ?? [];
    this.operation = details.operation ?? null;
  }

  /** A copy of this error that names the operation. */
  about(operation: SentOperation): ClientError {
    const { code, message, status, field, fix, requestId, diagnostics } = this;
    return new ClientError(code, message, { status, field, fix, requestId, diagnostics, operation });
  }
}

/** What an error has besides its code and message. */
export type Details = Partial<
  Pick<ClientError, "status" | "field" | "fix" | "requestId" | "diagnostics" | "operation" | "cause">
>;

/** Some operations of a `batch()` were refused, for the reasons in `refused`; all others were accepted. */
export class BatchRefusedError extends ClientError {
  override readonly name = "BatchRefusedError";

  constructor(
    /** The number of operations that were accepted. */
    readonly accepted: number,
    /** The error of each refused operation, with the operation's index in the array that was passed to `batch()`. */
    readonly refused: readonly { index: number; error: ClientError }[],
  ) {
    const [first] = refused;
    const example = first === undefined ? "" : `; operations[${first.index}]: ${first.error.message}`;
    super("BATCH_REFUSED", `${refused.length} of ${refused.length + accepted} operations were refused${example}`);
  }
}

/** An argument is not an operation that the service could accept. Nothing of the call was queued. */
export class InvalidOperationError extends TypeError {
  override readonly name = "InvalidOperationError";
  readonly code = "INVALID_OPERATION";

  constructor(
    /** The place of the invalid value: `properties.lines[2].amount`. */
    readonly path: string,
    problem: string,
  ) {
    super(`${path} ${problem}`);
  }
}
