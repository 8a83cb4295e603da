/** Codes of failures that the CLI detects itself; the service's codes come in its answers. */
export type LocalCode =
  | "USAGE"
  | "NOT_SIGNED_IN"
  | "SESSION_FILE_INVALID"
  | "SESSION_NOT_SAVED"
  | "SIGN_IN_DENIED"
  | "SIGN_IN_EXPIRED"
  | "SIGN_IN_FAILED"
  | "SIGN_OUT_FAILED"
  | "ORGANIZATION_REQUIRED"
  | "PROJECT_REQUIRED"
  | "API_KEY_REQUIRED"
  | "INVALID_SETTING"
  | "CONFIG_FILE_INVALID"
  | "CONFIG_INVALID"
  | "CONFIG_WARNINGS"
  | "CONFIRMATION_REQUIRED"
  | "CANCELLED"
  | "OUTCOME_UNKNOWN"
  | "NOT_DELIVERED"
  | "EVENTS_FILE_INVALID"
  | "FILE_EXISTS"
  | "FILE_NOT_WRITTEN"
  | "DIRECTORY_NOT_EMPTY"
  | "NOTHING_DEPLOYED"
  | "STATE_NOT_FOUND"
  | "MEMBER_NOT_FOUND"
  | "OPERATION_NOT_FOUND"
  | "DRAFT_REFUSED"
  | "FACTS_TOO_LARGE"
  | "AI_DISABLED"
  | "ANSWER_TOO_LARGE"
  | "PORT_TAKEN"
  | "DEAD_LETTER"
  | "STOPPED_WAITING"
  | "SERVICE_UNREACHABLE"
  | "UNEXPECTED_ANSWER"
  | "OUTPUT_FAILED"
  | "INTERNAL_ERROR";

/** The members of the API's error envelope that a CLI error can carry too. */
export interface ErrorDetails {
  requestId?: string;
  field?: string;
  value?: unknown;
  reason?: string;
  docs?: string;
  diagnostics?: readonly unknown[];
  problems?: readonly unknown[];
  warnings?: readonly unknown[];
  /** What was corrected before the rest failed. */
  fixed?: readonly unknown[];
}

/** A failure that the user can fix: a message, what to do about it, and no stack. Anything else thrown is a bug. */
export class UserError extends Error {
  override readonly name: string = "UserError";
  readonly exitCode: number = 1;

  /** @param code a local code or one of the API @param message a sentence without its period, as is the fix */
  constructor(
    readonly code: string,
    message: string,
    readonly fix?: string,
    readonly details: ErrorDetails = {},
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}

/** A failure that the CLI detects itself. */
export function failure(
  code: LocalCode,
  message: string,
  fix?: string,
  cause?: unknown,
  details: ErrorDetails = {},
): UserError {
  return new UserError(code, message, fix, details, cause);
}

/** The user ended the command before it changed anything. */
export function cancelled(cause?: unknown): UserError {
  return failure("CANCELLED", "cancelled, nothing was changed", undefined, cause);
}

/** An invalid command line. */
export class UsageError extends UserError {
  override readonly name = "UsageError";
  override readonly exitCode = 2;

  constructor(message: string, fix?: string) {
    super("USAGE" satisfies LocalCode, message, fix);
  }
}
