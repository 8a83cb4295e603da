// Failures between the CLI and the service, in words that say what to do.
import { type ErrorDetails, failure, type LocalCode, UserError } from "../core/errors.js";
import type { Credentials } from "../core/settings.js";
import { version } from "../core/package.js";
import { isObject, printable } from "../../words/text.js";
import { type Head, send } from "./transport.js";

/** How long to wait for an answer. Deploying a large model compiles its payload checks before the service answers. */
export const ANSWER_MS_MAX = 60_000;

const UNTRUSTED = "its certificate is not trusted";

const NETWORK_FAILURES: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection closed",
  EHOSTUNREACH: "no route to that host",
  ENETUNREACH: "no network",
  ENOTFOUND: "unknown host",
  EAI_AGAIN: "unknown host",
  ETIMEDOUT: "no answer in time",
  HPE_INVALID_CONSTANT: "that port does not speak HTTP",
  EPROTO: "that port does not speak TLS",
  ERR_SSL_WRONG_VERSION_NUMBER: "that port does not speak TLS",
  ERR_SSL_PACKET_LENGTH_TOO_LONG: "that port does not speak TLS",
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  CERT_HAS_EXPIRED: "its certificate has expired",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is another host's",
};

/** Fixes of failures where starting the service does not help. */
const NETWORK_FIXES: Readonly<Record<string, string>> = {
  "that port does not speak TLS": "begin its address with http:// in SVC_API_URL",
  [UNTRUSTED]: "name the file of the authority that signed it in NODE_EXTRA_CA_CERTS",
  "its certificate has expired": "renew the service's certificate",
  "its certificate is another host's": "set SVC_API_URL to the name that its certificate is for",
};

/** The failure of a connection that could not be made, or broke. */
export function unreachable(base: string, error: unknown): UserError {
  const timedOut = error instanceof DOMException && error.name === "TimeoutError";
  const cause = error instanceof Error && error.cause instanceof Error ? (error.cause as NodeJS.ErrnoException) : error;
  const code = (cause as NodeJS.ErrnoException).code ?? "";
  const reason = timedOut
    ? `no answer within ${ANSWER_MS_MAX / 1000} seconds`
    : (NETWORK_FAILURES[code] ?? (code === "" ? (cause as Error).message : code));
  const fix = NETWORK_FIXES[reason] ?? "start the service, or set SVC_API_URL to its address";
  return failure("SERVICE_UNREACHABLE", `${base} cannot be reached (${reason})`, fix, error);
}

/** The failure of an answer that is not from the service, or from another version of it. */
export function unexpectedAnswer(base: string, status: number, what: string): UserError {
  return failure(
    "UNEXPECTED_ANSWER",
    `${base} answered ${status} with ${what}, not as this version of svc expects`,
    "check that SVC_API_URL is the address of the service, and that svc has the same version",
    new AnswerStatus(status),
  );
}

class AnswerStatus {
  constructor(readonly status: number) {}
}

/** Whether a request with this failure may have been carried out nevertheless. */
export function mayHaveSucceeded({ code, cause }: UserError): boolean {
  if (code === ("SERVICE_UNREACHABLE" satisfies LocalCode)) return !neverSent(cause);
  if (!(cause instanceof AnswerStatus)) return false;
  // A proxy may have passed the request on; with 503 it found no service.
  const { status } = cause;
  return (status >= 200 && status <= 299) || (status >= 500 && status !== 503);
}

/** Whether a connection failed before a request could be sent over it, or the other side does not speak HTTP. */
function neverSent(error: unknown): boolean {
  // An AggregateError has one error for each address of the host.
  if (error instanceof AggregateError) return error.errors.every(neverSent);
  const { code = "", syscall } = error as NodeJS.ErrnoException;
  const isSecured = /^(ERR_(SSL|TLS)|CERT)_/.test(code) || NETWORK_FAILURES[code] === UNTRUSTED || code === "EPROTO";
  return isSecured || code === "HPE_INVALID_CONSTANT" || ["connect", "getaddrinfo"].includes(syscall ?? "");
}

/** Fixes of refusals in terms of the CLI; the service's own advice is meant for HTTP clients. */
const FIXES: Readonly<Record<string, string | ((as: Credentials) => string)>> = {
  INVALID_SESSION: (as) =>
    as.session
      ? "sign in again: `svc auth login`"
      : "set SVC_ACCESS_TOKEN to another token, or unset it and sign in: `svc auth login`",
  ORGANIZATION_REQUIRED: "set SVC_ORGANIZATION to the organization's id",
  ORGANIZATION_NOT_FOUND: wrongOrganization,
  INVALID_API_KEY: "check SVC_API_KEY_TEST, SVC_API_KEY_LIVE or SVC_API_KEY: the key is unknown or revoked",
  PROJECT_NOT_FOUND:
    'correct --project or "project" of .kite/config.json: `svc projects list` shows those of this organization; ' +
    'for those of another one, set SVC_ORGANIZATION or "organization" of .kite/config.json',
  CUSTOMER_NOT_FOUND: "check the id and --env; `svc customers list` lists the customers",
  SEGMENT_NOT_FOUND: "check the id and --env; `svc overview` shows the segments",
  JOURNEY_NOT_FOUND: "check the id and --env; the model lists the journeys",
  WEBHOOK_NOT_FOUND: "check the id and --env; `svc webhooks list` lists the webhooks",
  KEY_NOT_FOUND: "check the id and --env; `svc keys list` lists the keys",
  KEY_REVOKED: "rotate the key that took its place (`svc keys list`), or create a new one",
  DELIVERY_NOT_FOUND: "check the ids and --env; `svc webhooks deliveries <webhookId>` lists the deliveries",
  WEBHOOK_DISABLED: "enable it first: `svc webhooks update <webhookId> --enable`",
  RECOMPUTE_NOT_FOUND: "check the id and --env; `svc recompute list` lists the recomputes",
  RECOMPUTE_NOT_A_DRY_RUN: "give the id of a dry run, or select what to recompute with --customer or --all",
  BACKTEST_NOT_FOUND:
    "check the id, which was printed when the backtest began, and --env; or begin a new one, without --job",
  PREVIEW_NOT_FOUND: "preview the model again: `svc deploy --preview`",
  VERSION_NOT_FOUND: "check its name; `svc config versions` lists the versions",
  VERSION_CONFLICT: "look at `svc config activations`, then try again",
  CONFIG_WARNINGS: "keep in the model what they name, or proceed despite them with --force",
  ALREADY_MEMBER: "change the member's role instead: `svc members update <member> --role <role>`",
  MEMBER_NOT_FOUND: "check the id; `svc members list` lists the members",
  INVITATION_NOT_FOUND: "check the id; `svc invitations list` lists those that are open",
  TOKEN_NOT_FOUND: "check the id; `svc tokens list` lists the tokens",
  SLUG_TAKEN: "choose another --slug",
  RATE_LIMIT_EXCEEDED: "try again in a moment",
  SERVICE_UNAVAILABLE: "try again in a moment",
};

function wrongOrganization({ organizationFrom }: Credentials): string {
  const listed = "`svc whoami` names yours";
  switch (organizationFrom) {
    case "file":
      return `correct "organization" of .kite/config.json: ${listed}`;
    case "session":
      return "you may have left it: sign in again, `svc auth login`";
    case "variable":
      return `correct SVC_ORGANIZATION, which is an organization's id: ${listed}`;
  }
}

/** The error of an error envelope, in terms of the CLI. */
export function envelopeError(base: string, status: number, data: unknown, as: () => Credentials): UserError {
  const error = isObject(data) ? data["error"] : undefined;
  if (!isObject(error) || typeof error["code"] !== "string" || typeof error["message"] !== "string") {
    return unexpectedAnswer(base, status, shapeOf(data));
  }
  const { code, message, fix: advice, ...rest } = error as { code: string; message: string; fix?: string };
  if (code === "NOT_FOUND" || code === "METHOD_NOT_ALLOWED")
    return unexpectedAnswer(base, status, `"${printable(message)}"`);
  const chosen = FIXES[code] ?? advice;
  const fix = typeof chosen === "function" ? chosen(as()) : chosen;
  const { warnings } = rest as ErrorDetails;
  return new UserError(code, message, fix, warnings === undefined ? rest : { ...rest, warnings: asWarnings(warnings) });
}

/** The service's warnings in the form of the compiler's warnings. */
export function asWarnings(warnings: readonly unknown[]): object[] {
  return warnings.map((found) => ({ severity: "warning", ...(found as object) }));
}

/** What was received instead of the expected members. */
export function shapeOf(data: unknown): string {
  return data === undefined ? "no JSON" : "JSON of another shape";
}

/** How long to wait for the service's version: the failure is known already, and the user waits for it. */
const VERSION_MS_MAX = 2_000;

/** Adds to UNEXPECTED_ANSWER what can be found out: that the answer is a web page or a redirect, or that the service is of another version. */
export async function withDiagnosis(base: string, response: Head, error: UserError): Promise<UserError> {
  if (error.code !== ("UNEXPECTED_ANSWER" satisfies LocalCode)) return error;
  const message = error.message.replace(/ with no JSON,/, ` with ${insteadOfJson(response)},`);
  const fix = (await fixOf(base, response)) ?? error.fix;
  return new UserError(error.code, message, fix, error.details, error.cause);
}

function insteadOfJson({ status, headers }: Head): string {
  if (status >= 300 && status <= 399) return "a redirect";
  return headers.get("content-type")?.startsWith("text/html") === true ? "a web page" : "no JSON";
}

async function fixOf(base: string, { status, headers }: Head): Promise<string | undefined> {
  const location = headers.get("location");
  if (status >= 300 && status <= 399 && location !== null && URL.canParse(location, base)) {
    const { origin, pathname } = new URL(location, base);
    return `it redirects to ${printable(origin + pathname)}: set SVC_API_URL to the service's own address`;
  }
  // While the service restarts, a proxy answers in its place.
  if (status >= 502) return "try again in a moment, and check that SVC_API_URL is the address of the service";
  const theirs = await versionOf(base);
  if (theirs === undefined) return undefined;
  return theirs === version()
    ? `the service and svc both have version ${theirs}: check what is between them, such as a proxy`
    : otherVersion(theirs);
}

function otherVersion(theirs: string): string {
  return `the service has version ${printable(theirs)}, svc ${version()}: use the svc that came with the service`;
}

/** The failure of a command that found a part of an answer missing; undefined unless the service is of another version. */
export async function notUnderstood(base: string, thrown: TypeError): Promise<UserError | undefined> {
  const theirs = await versionOf(base);
  if (theirs === undefined || theirs === version()) return undefined;
  const message = `an answer of ${base} is not as this version of svc expects (${printable(thrown.message)})`;
  return failure("UNEXPECTED_ANSWER", message, otherVersion(theirs), thrown);
}

/** The service's version; undefined if it does not answer in time. */
async function versionOf(base: string): Promise<string | undefined> {
  try {
    const signal = AbortSignal.timeout(VERSION_MS_MAX);
    const response = await send(new URL(`${base}/openapi.json`), { method: "GET", headers: {}, signal });
    const { info } = JSON.parse(await response.text()) as { info?: { title?: unknown; version?: unknown } };
    return info?.title === "svc" && typeof info.version === "string" ? info.version : undefined;
  } catch {
    // The version only adds detail to another failure.
    return undefined;
  }
}
