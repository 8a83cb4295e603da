import type { Context } from "koa";
import type { Sql } from "postgres";
import { ApiError, toApiError } from "../errors.js";
import { addToLogLine } from "../middleware/request-log.js";
import { ClientGoneError } from "../request/body.js";
import { readForm } from "../request/form.js";
import type { Route } from "../route.js";

/** The programs that may ask for tokens, by client_id, with the names that people see. All are public clients: none has a secret. */
const CLIENTS: Readonly<Record<string, string>> = { "svc-cli": "svc, the command line of this service" };

/** The client's name for the person who approves its sign-in. */
export function clientName(clientId: string): string {
  return CLIENTS[clientId] ?? clientId;
}

export interface OAuthDeps {
  sql: Sql;
  /** The address of the service for browsers: SVC_PUBLIC_URL, or else the address that it listens on. Without a slash at the end. */
  publicUrl: () => string;
  /** SVC_PUBLIC_URL is not set, so a browser may use any name of this host. */
  anyHost: boolean;
}

/** A request of a known client. */
export interface OAuthCall<Parameter extends string> {
  deps: OAuthDeps;
  ctx: Context;
  clientId: string;
  /** The value of a parameter. Throws `invalid_request` if it is missing or empty. */
  required: (name: Parameter) => string;
}

interface OAuthRoute<Parameter extends string> {
  path: string;
  /** The parameters that it reads in addition to client_id; others are ignored. */
  parameters?: readonly Parameter[];
  /** Returns the document of the answer, or undefined for an empty answer. Throws OAuthError. */
  answer: (call: OAuthCall<Parameter>) => Promise<object | undefined>;
}

/** Makes the route of an endpoint that takes a form. Anything thrown is answered in OAuth's format. */
export function oauthRoute<const Parameter extends string = never>(
  route: OAuthRoute<Parameter>,
): (deps: OAuthDeps) => Route {
  const { path, parameters: names = [], answer } = route;
  return (deps) => ({
    method: "POST",
    path,
    handle: async (ctx) => {
      // In addition to Cache-Control, which every answer has.
      ctx.set("Pragma", "no-cache");
      try {
        refuseAuthentication(ctx);
        const form = await readForm(ctx, [...names, "client_id"], true);
        const clientId = required("client_id", form.client_id);
        if (!Object.hasOwn(CLIENTS, clientId))
          throw new OAuthError(
            "invalid_client",
            "There is no client with this client_id. The command line is svc-cli.",
          );
        const document = await answer({ deps, ctx, clientId, required: (name) => required(name, form[name]) });
        ctx.status = 200;
        ctx.body = document ?? "";
      } catch (error) {
        // No client is left to answer.
        if (error instanceof ClientGoneError) throw error;
        const failure =
          error instanceof OAuthError ? new ApiError(error.status, error.error, { cause: error }) : toApiError(error);
        addToLogLine(ctx, { failure });
        renderOAuthError(ctx, error);
      }
    },
  });
}

/** A refusal with one of OAuth's error codes (RFC 6749, section 5.2; RFC 8628, section 3.5), which clients depend on. */
export class OAuthError extends Error {
  override name = "OAuthError";

  /** @param error an error code of the RFCs @param status 400 by default, as RFC 6749 prescribes */
  constructor(
    readonly error: string,
    description: string,
    readonly status = 400,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(description);
  }
}

/** Answers with anything thrown; unexpected errors are not revealed. */
function renderOAuthError(ctx: Context, thrown: unknown): void {
  const { status, headers, error, message } = thrown instanceof OAuthError ? thrown : translate(toApiError(thrown));
  ctx.status = status;
  ctx.set(headers);
  // RFC 6749 allows printable ASCII without quotation marks and backslashes.
  ctx.body = { error, error_description: message.replaceAll('"', "'").replace(/[^\x20-\x5b\x5d-\x7e]/g, "?") };
}

/** A request that could not be read is an `invalid_request`; OAuth has separate codes for faults of the server. */
function translate({ status, message, detail, headers }: ApiError): OAuthError {
  const { reason, field, fix } = detail;
  const sentences = (...texts: (string | undefined)[]) => texts.filter((text) => text !== undefined).join(" ");
  if (status >= 500) {
    const error = status === 503 ? "temporarily_unavailable" : "server_error";
    return new OAuthError(error, sentences(message, reason), status, { "Retry-After": "1", ...headers });
  }
  const where = field && `Field: ${field}.`;
  return new OAuthError("invalid_request", sentences(message, reason, where, fix), status === 413 ? 413 : 400, headers);
}

/** Our clients have no secret, so they cannot authenticate. */
function refuseAuthentication(ctx: Context): void {
  if (ctx.get("Authorization") === "") return;
  throw new OAuthError(
    "invalid_client",
    "The header Authorization is not accepted here: clients of this service have no secret. Send client_id in the form.",
    401,
    { "WWW-Authenticate": 'Basic realm="svc"' },
  );
}

/** A parameter without a value counts as missing (RFC 6749, section 3.1). */
function required(name: string, value: string | undefined): string {
  if (value !== undefined && value !== "") return value;
  throw new OAuthError("invalid_request", `The parameter ${name} is missing.`);
}

/**
 * The issuer that clients see: the public address of the service, without a slash at the end. If none was configured, it is the address that
 * this client used, because clients compare them: `http://localhost:4400` differs from `http://127.0.0.1:4400`.
 */
export function issuerOf({ publicUrl, anyHost }: Pick<OAuthDeps, "publicUrl" | "anyHost">, ctx: Context): string {
  const requested = `${ctx.protocol}://${ctx.host}`;
  return anyHost && URL.canParse(requested) ? new URL(requested).origin : publicUrl();
}
