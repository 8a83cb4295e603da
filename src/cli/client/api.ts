import { type ErrorDetails, type LocalCode, UserError } from "../core/errors.js";
import type { JsonText } from "../output/out.js";
import type { Credentials, Settings } from "../core/settings.js";
import { printable } from "../output/text.js";
import { type Head, send } from "./transport.js";
import { explained } from "./unexpected.js";

const UNTRUSTED = "its certificate is not trusted";

/** How long to wait for an answer. A deploy of a large model compiles its payload checks before it answers. */
export const ANSWER_MS_MAX = 60_000;

/** An answer: as data, and as the text that came. Only the text has all digits of numbers that JavaScript cannot hold. */
export interface ApiAnswer<T> extends JsonText {
  status: number;
  data: T;
}

/** A page of a list. */
export interface ListPage<T> {
  data: T[];
  nextCursor: string | null;
}

export type Query = Readonly<Record<string, string | number | undefined>>;

/** An address that begins with a slash, or the parts of one in the project: what lies there is asked for in the environment that is set. */
export type ApiPath = string | readonly string[];

/** The names of members. */
type Members<T> = readonly (keyof T & string)[];

interface Sent {
  query?: Query | undefined;
  /** JSON text. */
  body?: string | undefined;
  /** Ends it before its answer came. */
  signal?: AbortSignal | undefined;
}

interface Request extends Omit<Sent, "query"> {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  url: URL;
  headers: Record<string, string>;
}

interface StreamOptions {
  /** The media type that is expected. */
  type: string;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  body?: string;
}

/** Talks to the service over HTTP. Whatever goes wrong becomes a `UserError` that says where and what to do. */
export class Api {
  /** Sent with every request, so that the service's logs show what belongs to this run. */
  readonly requestId: string;
  readonly #settings: Settings;
  readonly #credentials: Credentials | undefined;

  /** @param credentials those of the settings unless given. */
  constructor(settings: Settings, requestId: string, credentials?: Credentials) {
    this.requestId = requestId;
    this.#settings = settings;
    this.#credentials = credentials;
  }

  /** The same service in the name of somebody else. */
  as(credentials: Credentials): Api {
    return new Api(this.#settings, this.requestId, credentials);
  }

  /** Reads. `members` are those that the answer must have; without them the service is of another version. */
  get<T extends object>(path: ApiPath, members: Members<T>, query?: Query, signal?: AbortSignal) {
    return this.#send<T>(this.#request("GET", path, { query, signal }), members);
  }

  /** Changes something. */
  post<T extends object>(path: ApiPath, body: object, members: Members<T>, signal?: AbortSignal, query?: Query) {
    return this.#send<T>(this.#request("POST", path, { query, signal, body: JSON.stringify(body) }), members);
  }

  /** Changes the named members of something. */
  patch<T extends object>(path: ApiPath, body: object, members: Members<T>, signal?: AbortSignal) {
    return this.#send<T>(this.#request("PATCH", path, { signal, body: JSON.stringify(body) }), members);
  }

  /** Removes something. */
  delete<T extends object>(path: ApiPath, members: Members<T>, signal?: AbortSignal) {
    return this.#send<T>(this.#request("DELETE", path, { signal }), members);
  }

  /**
   * Reads what is too long, or too slow in coming, to be one answer: `chunks` are its bytes as they come, until the service ends it or the
   * signal does. Where the connection breaks they end with a failure, which `unreachable` tells in words. With a `body`, which is JSON
   * text, it is the answer to that.
   */
  async stream(
    path: ApiPath,
    query: Query,
    { type, headers = {}, signal, body }: StreamOptions,
  ): Promise<AsyncIterable<Uint8Array>> {
    const base = this.#settings.apiUrl;
    const request = this.#request(body === undefined ? "GET" : "POST", path, { query, body });
    // The time that an answer may take is that until it begins.
    const silence = new AbortController();
    const timer = setTimeout(() => silence.abort(new DOMException("", "TimeoutError")), ANSWER_MS_MAX);
    try {
      const all = { ...request, headers: { ...headers, ...request.headers } };
      const response = await this.#open(all, anyOf(silence.signal, signal), type);
      if (!isSuccess(response)) throw await this.#refused(base, response, await response.text());
      if (response.headers.get("content-type")?.startsWith(type) !== true) {
        response.close();
        throw await explained(base, response, unexpected(base, response.status, `something else than ${type}`));
      }
      return response.chunks;
    } catch (error) {
      throw error instanceof UserError ? error : unreachable(base, error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Sends to an ingestion endpoint, with an ingestion key. `body` is JSON text. */
  ingest<T extends object>(path: string, body: string, members: Members<T>): Promise<ApiAnswer<T>> {
    const headers = { authorization: `Bearer ${this.#settings.apiKey}` };
    return this.#send({ method: "POST", url: this.#address(path), headers, body }, members);
  }

  #actor(): Credentials {
    return this.#credentials ?? this.#settings.credentials();
  }

  #request(method: Request["method"], path: ApiPath, { query, ...rest }: Sent): Request {
    const url = this.#address(path, query);
    const { accessToken, organization } = this.#actor();
    const authorization = `Bearer ${accessToken}`;
    const headers =
      organization === undefined ? { authorization } : { authorization, "x-svc-organization": organization };
    return { method, url, headers, ...rest };
  }

  #address(path: ApiPath, query: Query = {}): URL {
    const isFixed = typeof path === "string";
    const place = isFixed ? path : ["", "projects", this.#settings.project, ...path].map(pathPart).join("/");
    const asked = isFixed ? query : { env: this.#settings.environment, ...query };
    const url = new URL(this.#settings.apiUrl + place);
    for (const [name, value] of Object.entries(asked)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    return url;
  }

  async #send<T extends object>(request: Request, members: Members<T>): Promise<ApiAnswer<T>> {
    const base = this.#settings.apiUrl;
    const { response, text } = await this.#fetch(base, request);
    if (!isSuccess(response)) throw await this.#refused(base, response, text);
    const { status } = response;
    const data = parse(text);
    if (isObject(data) && members.every((name) => name in data)) return { status, text, data: data as T };
    throw await explained(base, response, unexpected(base, status, shapeOf(data)));
  }

  #refused(base: string, response: Head, text: string): Promise<UserError> {
    return explained(
      base,
      response,
      refusal(base, response.status, parse(text), () => this.#actor()),
    );
  }

  async #fetch(base: string, request: Request): Promise<{ response: Head; text: string }> {
    const signal = anyOf(AbortSignal.timeout(ANSWER_MS_MAX), request.signal);
    try {
      const response = await this.#open(request, signal, "application/json");
      return { response, text: await response.text() };
    } catch (error) {
      throw unreachable(base, error);
    }
  }

  #open({ method, url, headers, body }: Request, signal: AbortSignal, accept: string) {
    const isJson = body === undefined ? {} : { "content-type": "application/json" };
    return send(url, {
      method,
      headers: { accept, "x-request-id": this.requestId, ...isJson, ...headers },
      ...(body === undefined ? {} : { body }),
      signal,
    });
  }
}

function isSuccess({ status }: Head): boolean {
  return status >= 200 && status <= 299;
}

function anyOf(timeout: AbortSignal, signal: AbortSignal | undefined): AbortSignal {
  return signal === undefined ? timeout : AbortSignal.any([timeout, signal]);
}

/** An identifier as a part of a path. Addresses treat dots specially, encoded or not, so such an identifier cannot stand in one. */
function pathPart(part: string): string {
  if (part !== "." && part !== "..") return encodeURIComponent(part);
  throw new UserError(
    "INVALID_SETTING" satisfies LocalCode,
    `"${part}" cannot be asked for by its identifier`,
    'check it: in an address "." and ".." mean a folder, so give customers and whatever else has an id another one',
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON: the caller says so, with what came instead.
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What came instead of the members that were expected. */
function shapeOf(data: unknown): string {
  return data === undefined ? "no JSON" : "JSON of another shape";
}

const NETWORK_FAILURES: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection closed",
  EHOSTUNREACH: "no way to that host",
  ENETUNREACH: "no network",
  ENOTFOUND: "unknown host",
  EAI_AGAIN: "unknown host",
  ETIMEDOUT: "no answer in time",
  HPE_INVALID_CONSTANT: "no HTTP there",
  EPROTO: "no TLS there",
  ERR_SSL_WRONG_VERSION_NUMBER: "no TLS there",
  ERR_SSL_PACKET_LENGTH_TOO_LONG: "no TLS there",
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  CERT_HAS_EXPIRED: "its certificate has expired",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is another host's",
};

/** What to do where starting the service does not help. */
const NETWORK_FIXES: Readonly<Record<string, string>> = {
  "no TLS there": "begin its address with http:// in SVC_API_URL",
  [UNTRUSTED]: "name the file of the authority that signed it in NODE_EXTRA_CA_CERTS",
  "its certificate has expired": "renew the service's certificate",
  "its certificate is another host's": "set SVC_API_URL to the name that its certificate is for",
};

/** A connection that could not be made, or broke, in words. */
export function unreachable(base: string, error: unknown): UserError {
  const timedOut = error instanceof DOMException && error.name === "TimeoutError";
  const cause = error instanceof Error && error.cause instanceof Error ? (error.cause as NodeJS.ErrnoException) : error;
  const code = (cause as NodeJS.ErrnoException).code ?? "";
  const reason = timedOut
    ? `no answer within ${ANSWER_MS_MAX / 1000} seconds`
    : (NETWORK_FAILURES[code] ?? (code === "" ? (cause as Error).message : code));
  return new UserError(
    "SERVICE_UNREACHABLE" satisfies LocalCode,
    `${base} cannot be reached (${reason})`,
    NETWORK_FIXES[reason] ?? "start the service, or set SVC_API_URL to its address",
    {},
    error,
  );
}

/** An answer that is none of the service's, or not that of its version which came with this program. */
export function unexpected(base: string, status: number, what: string): UserError {
  return new UserError(
    "UNEXPECTED_ANSWER" satisfies LocalCode,
    `${base} answered ${status} with ${what}, not as this version of svc expects`,
    "check that SVC_API_URL is the address of the service, and that svc is of the same version",
    {},
    new AnswerStatus(status),
  );
}

/** What remains of an answer that was not as expected. */
class AnswerStatus {
  constructor(readonly status: number) {}
}

/** Whether a request that failed so may have been carried out all the same. */
export function mayBeDone({ code, cause }: UserError): boolean {
  if (code === ("SERVICE_UNREACHABLE" satisfies LocalCode)) return !neverSent(cause);
  if (!(cause instanceof AnswerStatus)) return false;
  // What stands before the service may have passed the request on; with 503 it found no service.
  const { status } = cause;
  return (status >= 200 && status <= 299) || (status >= 500 && status !== 503);
}

/** Whether a connection failed before a request could be sent over it, or over it something else than HTTP was spoken. */
function neverSent(error: unknown): boolean {
  // One for each address of the host.
  if (error instanceof AggregateError) return error.errors.every(neverSent);
  const { code = "", syscall } = error as NodeJS.ErrnoException;
  const isSecured = /^(ERR_(SSL|TLS)|CERT)_/.test(code) || NETWORK_FAILURES[code] === UNTRUSTED || code === "EPROTO";
  return isSecured || code === "HPE_INVALID_CONSTANT" || ["connect", "getaddrinfo"].includes(syscall ?? "");
}

/** What to do about a refusal in the terms of the command line; what the service advises is meant for those who speak HTTP. */
const FIXES: Readonly<Record<string, string | ((as: Credentials | undefined) => string)>> = {
  INVALID_SESSION: (as) =>
    as?.session
      ? "sign in again: `svc auth login`"
      : "set SVC_ACCESS_TOKEN to another token, or unset it and sign in: `svc auth login`",
  ORGANIZATION_REQUIRED: "set SVC_ORGANIZATION to the organization's id",
  ORGANIZATION_NOT_FOUND: wrongOrganization,
  INVALID_API_KEY: "check SVC_API_KEY_TEST, SVC_API_KEY_LIVE or SVC_API_KEY: the key is unknown or revoked",
  PROJECT_NOT_FOUND:
    'correct --project or "project" of .kite/config.json: `svc projects list` shows those of this organization; ' +
    'for those of another one, set SVC_ORGANIZATION or "organization" of .kite/config.json',
  CUSTOMER_NOT_FOUND: "check the id and --env; `svc customers list` shows whom there is",
  SEGMENT_NOT_FOUND: "check the id and --env; `svc overview` shows the segments",
  JOURNEY_NOT_FOUND: "check the id; `svc customers inspect <customerId>` shows the customer's journeys",
  WEBHOOK_NOT_FOUND: "check the id and --env; `svc webhooks list` shows what there is",
  KEY_NOT_FOUND: "check the id and --env; `svc keys list` shows what there is",
  KEY_REVOKED: "rotate the key that took its place (`svc keys list`), or create a new one",
  DELIVERY_NOT_FOUND: "check the ids and --env; `svc webhooks deliveries` shows what there is",
  WEBHOOK_DISABLED: "enable it first: `svc webhooks update <webhookId> --enable`",
  RECOMPUTE_NOT_FOUND: "check the id and --env; `svc recompute list` shows what there is",
  RECOMPUTE_NOT_A_DRY_RUN: "name a dry run, or say what to recompute by --customer or --all",
  VERSION_NOT_FOUND: "check its name; `svc config versions` shows what there is",
  VERSION_CONFLICT: "look at `svc config activations`, then try again",
  CONFIG_WARNINGS: "keep in the model what they name, or go on despite them with --force",
  SLUG_TAKEN: "choose another --slug",
  RATE_LIMIT_EXCEEDED: "try again in a moment",
  SERVICE_UNAVAILABLE: "try again in a moment",
};

/** What to correct where the organization is none of the user's. */
function wrongOrganization(as: Credentials | undefined): string {
  const listed = "`svc whoami` names yours";
  switch (as?.organizationFrom) {
    case "file":
      return `correct "organization" of .kite/config.json: ${listed}`;
    case "session":
      return "you may have left it: sign in again, `svc auth login`";
    default:
      return `correct SVC_ORGANIZATION, which is an organization's id: ${listed}`;
  }
}

/** What an error envelope says, in the terms of the command line. */
export function refusal(
  base: string,
  status: number,
  data: unknown,
  as: () => Credentials | undefined = () => undefined,
): UserError {
  const error = isObject(data) ? data["error"] : undefined;
  if (!isObject(error) || typeof error["code"] !== "string" || typeof error["message"] !== "string") {
    return unexpected(base, status, shapeOf(data));
  }
  const { code, message, fix: advice, ...rest } = error as { code: string; message: string; fix?: string };
  if (code === "NOT_FOUND" || code === "METHOD_NOT_ALLOWED") return unexpected(base, status, `"${printable(message)}"`);
  const fix = FIXES[code] ?? advice;
  const told = typeof fix === "function" ? fix(as()) : fix;
  return new UserError(code, message, told, code === "CONFIG_WARNINGS" ? warningsIn(rest) : rest);
}

/** The service's warnings, told apart from its errors. */
function warningsIn({ diagnostics, ...rest }: ErrorDetails): ErrorDetails {
  return { ...rest, ...(diagnostics && { diagnostics: asWarnings(diagnostics) }) };
}

/** What the service warns of: it has no word for it, because an answer's diagnostics are all of one kind. */
export function asWarnings(diagnostics: readonly unknown[]): object[] {
  return diagnostics.map((found) => ({ severity: "warning", ...(found as object) }));
}
