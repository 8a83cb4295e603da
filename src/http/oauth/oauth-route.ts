import type { Context } from "koa";
import type { Sql } from "postgres";
import { ApiError, toApiError } from "../errors.js";
import { noteInLog } from "../middleware/request-log.js";
import { ClientGoneError } from "../request/body.js";
import { readForm } from "../request/form.js";
import type { Route } from "../route.js";

/** The programs that may ask for tokens, by their client_id, and what people are told they are. All are public: none has a secret. */
const CLIENTS: Readonly<Record<string, string>> = { "svc-cli": "svc, the command line of this service" };

/** For people who decide about it. */
export function clientName(clientId: string): string {
  return CLIENTS[clientId] ?? clientId;
}

/** What the OAuth endpoints need. */
export interface OAuthDeps {
  sql: Sql;
  /** Where browsers reach the service: SVC_PUBLIC_URL, else the address it listens on. Without a slash at the end. */
  publicUrl: () => string;
  /** SVC_PUBLIC_URL is not set, so that a browser may have come by any name of this host. */
  anyHost: boolean;
}

/** A request of a known client. */
export interface OAuthCall<Parameter extends string> {
  deps: OAuthDeps;
  ctx: Context;
  clientId: string;
  /** A parameter that was sent, not empty. Throws `invalid_request` for one that was not. */
  required: (name: Parameter) => string;
}

interface OAuthRoute<Parameter extends string> {
  path: string;
  /** Those that it reads besides client_id; others are ignored. */
  parameters?: readonly Parameter[];
  /** The answer's document; undefined for none. Throws OAuthError. */
  answer: (call: OAuthCall<Parameter>) => Promise<object | undefined>;
}

/** Makes a route of an endpoint that clients send a form to. Whatever is thrown is answered as OAuth's clients expect. */
export function oauthRoute<const Parameter extends string = never>(
  route: OAuthRoute<Parameter>,
): (deps: OAuthDeps) => Route {
  const { path, parameters: names = [], answer } = route;
  return (deps) => ({
    method: "POST",
    path,
    handle: async (ctx) => {
      // Besides Cache-Control, which every answer has.
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
        // There is nobody to answer.
        if (error instanceof ClientGoneError) throw error;
        const failure =
          error instanceof OAuthError ? new ApiError(error.status, error.error, { cause: error }) : toApiError(error);
        noteInLog(ctx, { failure });
        renderOAuthError(ctx, error);
      }
    },
  });
}

/** A refusal in OAuth's own words (RFC 6749, section 5.2; RFC 8628, section 3.5), which its clients decide by. */
export class OAuthError extends Error {
  override name = "OAuthError";

  /** @param error one of the words that the RFCs register @param status 400 unless given, as RFC 6749 prescribes */
  constructor(
    readonly error: string,
    description: string,
    readonly status = 400,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(description);
  }
}

/** The answer that anything thrown becomes; of what nobody foresaw it says nothing. */
function renderOAuthError(ctx: Context, thrown: unknown): void {
  const { status, headers, error, message } = thrown instanceof OAuthError ? thrown : translate(toApiError(thrown));
  ctx.status = status;
  ctx.set(headers);
  // RFC 6749 allows printable ASCII without quotation marks and backslashes.
  ctx.body = { error, error_description: message.replaceAll('"', "'").replace(/[^\x20-\x5b\x5d-\x7e]/g, "?") };
}

/** A request that could not be read is an `invalid_request`; OAuth has words of its own for faults of the server. */
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

/** Our clients have no secret, so none can be proven. */
function refuseAuthentication(ctx: Context): void {
  if (ctx.get("Authorization") === "") return;
  throw new OAuthError(
    "invalid_client",
    "The header Authorization is not taken here: clients of this service have no secret. Send client_id in the form.",
    401,
    { "WWW-Authenticate": 'Basic realm="svc"' },
  );
}

/** A parameter without a value counts as one that was not sent (RFC 6749, section 3.1). */
function required(name: string, value: string | undefined): string {
  if (value !== undefined && value !== "") return value;
  throw new OAuthError("invalid_request", `The parameter ${name} is missing.`);
}

/**
 * What the service is called towards its clients, without a slash at the end: its public address. Where none was configured, the one that
 * this client came by, because clients compare: `http://localhost:4400` is none of `http://127.0.0.1:4400`.
 */
export function issuerOf({ publicUrl, anyHost }: Pick<OAuthDeps, "publicUrl" | "anyHost">, ctx: Context): string {
  const asked = `${ctx.protocol}://${ctx.host}`;
  return anyHost && URL.canParse(asked) ? new URL(asked).origin : publicUrl();
}
