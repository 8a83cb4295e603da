import type { Context } from "koa";
import type { Sql } from "postgres";
import { ApiError, toApiError } from "../errors.js";
import { recordFailure } from "../middleware/request-log.js";
import { ClientGoneError } from "../request/body.js";
import { readForm } from "../request/form.js";
import type { Route } from "../route.js";
import { OAuthError, renderOAuthError } from "./oauth-error.js";

/** The programs that may ask for tokens, by their client_id, and what people are told they are. All are public: none has a secret. */
const CLIENTS: Readonly<Record<string, string>> = {
  "svc-cli": "svc, the command line of this service",
};

function isClient(clientId: string): boolean {
  return Object.hasOwn(CLIENTS, clientId);
}

/** For people who decide about it. */
export function clientName(clientId: string): string {
  return CLIENTS[clientId] ?? clientId;
}

/** What the OAuth endpoints need. */
export interface OAuthDeps {
  sql: Sql;
  /** Where clients reach the service: SVC_PUBLIC_URL, else the address it listens on. Without a slash at the end. */
  publicUrl: () => string;
  /** SVC_PUBLIC_URL is not set, so that a client may have come by any name of this host. */
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
        const form = await readForm(ctx, [...names, "client_id"], { others: "ignore" });
        const clientId = requireClient(form.client_id);
        const document = await answer({ deps, ctx, clientId, required: (name) => required(name, form[name]) });
        ctx.status = 200;
        ctx.body = document ?? "";
      } catch (error) {
        // There is nobody to answer.
        if (error instanceof ClientGoneError) throw error;
        recordFailure(ctx, recorded(error));
        renderOAuthError(ctx, error);
      }
    },
  });
}

/** Our clients have no secret, so none can be proven. */
function refuseAuthentication(ctx: Context): void {
  if (ctx.get("Authorization") === "") return;
  throw new OAuthError(
    "invalid_client",
    "The header Authorization is not taken here: clients of this service have no secret. Send client_id in the form.",
    { status: 401, headers: { "WWW-Authenticate": 'Basic realm="svc"' } },
  );
}

function requireClient(clientId: string | undefined): string {
  const given = required("client_id", clientId);
  if (isClient(given)) return given;
  throw new OAuthError("invalid_client", "There is no client of this client_id. The command line is svc-cli.");
}

/** A parameter without a value counts as one that was not sent (RFC 6749, section 3.1). */
function required(name: string, value: string | undefined): string {
  if (value !== undefined && value !== "") return value;
  throw new OAuthError("invalid_request", `The parameter ${name} is missing.`);
}

/** What the log is told. */
function recorded(error: unknown): ApiError {
  return error instanceof OAuthError ? new ApiError(error.status, error.error, { cause: error }) : toApiError(error);
}

/**
 * What the service is called towards its clients, without a slash at the end: its public address. Where none was configured, the one that
 * this client came by, because clients compare: `http://localhost:4400` is none of `http://127.0.0.1:4400`.
 */
export function issuerOf({ publicUrl, anyHost }: Pick<OAuthDeps, "publicUrl" | "anyHost">, ctx: Context): string {
  const asked = `${ctx.protocol}://${ctx.host}`;
  return anyHost && URL.canParse(asked) ? new URL(asked).origin : publicUrl();
}
