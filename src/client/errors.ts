import type { SentOperation } from "./types.js";

/** What was found wrong with an operation, as the service lists it. */
export interface Diagnostic {
  code: string;
  message: string;
  path: string;
}

/** What an error says besides its code and its message. */
export interface Details {
  /** Of the answer; null where there was none. */
  status?: number | null;
  /** Where in the operation the mistake is, as `properties.amount`; null where the service does not say. */
  field?: string | null;
  /** What to do about it, in the service's words. */
  fix?: string | null;
  /** By which the service's log has it. */
  requestId?: string | null;
  diagnostics?: readonly Diagnostic[];
  operation?: SentOperation | null;
  cause?: unknown;
}

/**
 * What kept operations from being taken. `code` is the service's (`IDEMPOTENCY_CONFLICT`, `UNKNOWN_EVENT`, `INVALID_API_KEY`), or one of the client's own:
 * `QUEUE_FULL`, `CLOSED`, `TIMEOUT`, `BATCH_REFUSED`; of failures that pass, `UNREACHABLE` and `UNEXPECTED_ANSWER`.
 */
export class ClientError extends Error {
  override readonly name: string = "ClientError";
  readonly code: string;
  readonly status: number | null;
  readonly field: string | null;
  readonly fix: string | null;
  readonly requestId: string | null;
  readonly diagnostics: readonly Diagnostic[];
  /** The operation that was not taken; null where the error is about none in particular. */
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

  about(operation: SentOperation): ClientError {
    const { code, message, status, field, fix, requestId, diagnostics } = this;
    return new ClientError(code, message, { status, field, fix, requestId, diagnostics, operation });
  }
}

/** Some operations of `batch()` were refused, each as its error says; all others were accepted. */
export class BatchRefusedError extends ClientError {
  override readonly name = "BatchRefusedError";

  constructor(
    readonly accepted: number,
    /** One for each operation that was refused, with its place in the array that was given. */
    readonly refused: readonly { index: number; error: ClientError }[],
  ) {
    const [first] = refused;
    const example = first === undefined ? "" : `; operations[${first.index}]: ${first.error.message}`;
    super("BATCH_REFUSED", `${refused.length} of ${refused.length + accepted} operations were refused${example}`);
  }
}

/** What was given is no operation that the service would take. Nothing of the call was queued. */
export class InvalidOperationError extends TypeError {
  override readonly name = "InvalidOperationError";
  readonly code = "INVALID_OPERATION";

  constructor(
    /** Where: `properties.lines[2].amount`. */
    readonly path: string,
    problem: string,
  ) {
    super(`${path} ${problem}`);
  }
}
