import type { Context } from "koa";
import { toApiError, type ApiError } from "../errors.js";

export interface OAuthErrorOptions {
  /** 400 unless given, as RFC 6749 prescribes. */
  status?: number;
  headers?: Readonly<Record<string, string>>;
}

/** A refusal in OAuth's own words (RFC 6749, section 5.2; RFC 8628, section 3.5), which its clients decide by. */
export class OAuthError extends Error {
  override name = "OAuthError";
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  /** @param error one of the words that the RFCs register. */
  constructor(
    readonly error: string,
    description: string,
    { status = 400, headers = {} }: OAuthErrorOptions = {},
  ) {
    super(description);
    this.status = status;
    this.headers = headers;
  }
}

/** The answer that anything thrown becomes; of what nobody foresaw it says nothing. */
export function renderOAuthError(ctx: Context, thrown: unknown): void {
  const error = thrown instanceof OAuthError ? thrown : translate(toApiError(thrown));
  ctx.status = error.status;
  ctx.set(error.headers);
  ctx.body = { error: error.error, error_description: describe(error.message) };
}

/** A request that could not be read is an `invalid_request`; OAuth has words of its own for faults of the server. */
function translate({ status, message, detail, headers }: ApiError): OAuthError {
  const { reason, field, fix } = detail;
  const said = [message, reason];
  if (status >= 500) {
    const error = status === 503 ? "temporarily_unavailable" : "server_error";
    return new OAuthError(error, sentences(said), { status, headers: { "Retry-After": "1", ...headers } });
  }
  const where = field === undefined ? undefined : `Field: ${field}.`;
  return new OAuthError("invalid_request", sentences([...said, where, fix]), {
    status: status === 413 ? 413 : 400,
    headers,
  });
}

function sentences(texts: readonly (string | undefined)[]): string {
  return texts.filter((text) => text !== undefined).join(" ");
}

/** RFC 6749 allows printable ASCII without quotation marks and backslashes. */
function describe(text: string): string {
  return text.replaceAll('"', "'").replace(/[^\x20-\x5b\x5d-\x7e]/g, "?");
}
