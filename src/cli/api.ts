import { asWarnings } from "./diagnostics.js";
import { UserError } from "./errors.js";
import type { ErrorDetails, LocalCode } from "./errors.js";
import type { JsonText } from "./out.js";
import type { Settings } from "./settings.js";
import { printable } from "./text.js";

/** How long to wait for an answer. A deploy of a large model compiles its payload checks before it answers. */
const ANSWER_MS_MAX = 60_000;

/** An answer: as data, and as the text that came. Only the text has all digits of numbers that JavaScript cannot hold. */
export interface Answer<T> extends JsonText {
  status: number;
  data: T;
}

/** A page of a list. */
export interface Page<T> {
  data: T[];
  nextCursor: string | null;
}

export type Query = Readonly<Record<string, string | number | undefined>>;

interface Request {
  method: "GET" | "POST";
  /** Begins with a slash; parts of it that come from elsewhere are encoded. */
  path: string;
  query?: Query | undefined;
  headers: Record<string, string>;
  /** JSON text. */
  body?: string;
  /** Ends it before its answer came. */
  signal?: AbortSignal | undefined;
}

/** Talks to the service over HTTP. Whatever goes wrong becomes a `UserError` that says where and what to do. */
export class Api {
  readonly #settings: Settings;
  readonly #requestId: string;

  /** @param requestId sent with every request, so that the service's logs show what belongs to this run. */
  constructor(settings: Settings, requestId: string) {
    this.#settings = settings;
    this.#requestId = requestId;
  }

  /** Reads. `members` are those that the answer must have; without them the service is of another version. */
  get<T extends object>(
    path: string,
    members: readonly (keyof T & string)[],
    query?: Query,
    signal?: AbortSignal,
  ): Promise<Answer<T>> {
    return this.#send({ method: "GET", path, query, headers: this.#session(), signal }, members);
  }

  /** Changes something. */
  post<T extends object>(
    path: string,
    body: object,
    members: readonly (keyof T & string)[],
    query?: Query,
  ): Promise<Answer<T>> {
    return this.#send({ method: "POST", path, query, headers: this.#session(), body: JSON.stringify(body) }, members);
  }

  /** Sends to an ingestion endpoint, with an ingestion key. `body` is JSON text. */
  ingest<T extends object>(path: string, body: string, members: readonly (keyof T & string)[]): Promise<Answer<T>> {
    const headers = { authorization: `Bearer ${this.#settings.apiKey}` };
    return this.#send({ method: "POST", path, headers, body }, members);
  }

  /** The path of something in the project, from unencoded parts. */
  projectPath(...parts: string[]): string {
    return ["", "projects", this.#settings.project, ...parts].map(pathPart).join("/");
  }

  #session(): Record<string, string> {
    const { accessToken, organization } = this.#settings.credentials();
    return { authorization: `Bearer ${accessToken}`, "x-svc-organization": organization };
  }

  async #send<T extends object>(request: Request, members: readonly (keyof T & string)[]): Promise<Answer<T>> {
    const base = this.#settings.apiUrl;
    const { status, text } = await this.#fetch(base, request);
    const data = parse(text);
    if (status >= 200 && status <= 299) {
      if (isObject(data) && members.every((name) => name in data)) return { status, text, data: data as T };
      throw unexpected(base, status, data === undefined ? "no JSON" : "JSON of another shape");
    }
    throw refusal(base, status, data);
  }

  async #fetch(base: string, request: Request): Promise<{ status: number; text: string }> {
    const url = new URL(base + request.path);
    for (const [name, value] of Object.entries(request.query ?? {})) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const timeout = AbortSignal.timeout(ANSWER_MS_MAX);
    try {
      const response = await fetch(url, {
        method: request.method,
        headers: {
          accept: "application/json",
          "x-request-id": this.#requestId,
          ...(request.body === undefined ? {} : { "content-type": "application/json" }),
          ...request.headers,
        },
        ...(request.body === undefined ? {} : { body: request.body }),
        // A redirect would take the credentials to an address that nobody set.
        redirect: "manual",
        signal: request.signal === undefined ? timeout : AbortSignal.any([timeout, request.signal]),
      });
      return { status: response.status, text: await response.text() };
    } catch (error) {
      throw unreachable(base, error);
    }
  }
}

/** An identifier as a part of a path. Addresses treat dots specially, encoded or not, so such an identifier cannot stand in one. */
function pathPart(part: string): string {
  if (part !== "." && part !== "..") return encodeURIComponent(part);
  throw new UserError("INVALID_SETTING" satisfies LocalCode, `"${part}" cannot be asked for by its identifier`);
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

const NETWORK_FAILURES: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection closed",
  ENOTFOUND: "unknown host",
  EAI_AGAIN: "unknown host",
  ETIMEDOUT: "no answer in time",
  UND_ERR_CONNECT_TIMEOUT: "no answer in time",
  UND_ERR_SOCKET: "connection closed",
  HPE_INVALID_CONSTANT: "no HTTP there",
};

function unreachable(base: string, error: unknown): UserError {
  const timedOut = error instanceof DOMException && error.name === "TimeoutError";
  const cause = error instanceof Error && error.cause instanceof Error ? (error.cause as NodeJS.ErrnoException) : error;
  const code = (cause as NodeJS.ErrnoException).code ?? "";
  const reason = timedOut
    ? `no answer within ${ANSWER_MS_MAX / 1000} seconds`
    : (NETWORK_FAILURES[code] ?? (code === "" ? (cause as Error).message : code));
  return new UserError(
    "SERVICE_UNREACHABLE" satisfies LocalCode,
    `${base} cannot be reached (${reason})`,
    "start the service, or set SVC_API_URL to its address",
    {},
    error,
  );
}

function unexpected(base: string, status: number, what: string): UserError {
  return new UserError(
    "UNEXPECTED_ANSWER" satisfies LocalCode,
    `${base} answered ${status} with ${what}, not as this version of svc expects`,
    "check that SVC_API_URL is the address of the service, and that svc is of the same version",
  );
}

/** What to do about a refusal in the terms of the command line; what the service advises is meant for those who speak HTTP. */
const FIXES: Readonly<Record<string, string>> = {
  INVALID_SESSION: "check SVC_ACCESS_TOKEN and SVC_ORGANIZATION, or make a new token with `svc-server bootstrap`",
  ORGANIZATION_REQUIRED: "set SVC_ORGANIZATION to the organization's id",
  ORGANIZATION_NOT_FOUND: "set SVC_ORGANIZATION to the organization's id",
  INVALID_API_KEY: "check SVC_API_KEY_TEST, SVC_API_KEY_LIVE or SVC_API_KEY: the key is unknown or revoked",
  PROJECT_NOT_FOUND:
    'correct --project or "project" of .kite/config.json, or check that SVC_ORGANIZATION is the project\'s',
  CUSTOMER_NOT_FOUND: "check the id and --env; `svc customers list` shows whom there is",
  SEGMENT_NOT_FOUND: "check the id and --env; `svc overview` shows the segments",
  WEBHOOK_NOT_FOUND: "check the id and --env; `svc webhooks list` shows what there is",
  KEY_NOT_FOUND: "check the id and --env",
  KEY_REVOKED: "rotate the key that took its place, or create a new one",
  RECOMPUTE_NOT_FOUND: "check the id and --env; `svc recompute list` shows what there is",
  RECOMPUTE_NOT_A_DRY_RUN: "name a dry run, or say what to recompute by --customer or --all",
  VERSION_NOT_FOUND: "check its name; `svc config versions` shows what there is",
  VERSION_CONFLICT: "look at `svc config versions`, then try again",
  CONFIG_WARNINGS: "keep in the model what they name, or go on despite them with --force",
  SLUG_TAKEN: "choose another --slug",
  RATE_LIMIT_EXCEEDED: "try again in a moment",
  SERVICE_UNAVAILABLE: "try again in a moment",
};

function refusal(base: string, status: number, data: unknown): UserError {
  const error = isObject(data) ? data["error"] : undefined;
  if (!isObject(error) || typeof error["code"] !== "string" || typeof error["message"] !== "string") {
    const what = data === undefined ? "no JSON" : "JSON of another shape";
    return unexpected(base, status, what);
  }
  const { code, message, fix, ...rest } = error as { code: string; message: string; fix?: string };
  if (code === "NOT_FOUND" || code === "METHOD_NOT_ALLOWED") return unexpected(base, status, `"${printable(message)}"`);
  return new UserError(code, message, FIXES[code] ?? fix, code === "CONFIG_WARNINGS" ? warningsIn(rest) : rest);
}

/** The service's warnings, told apart from its errors. */
function warningsIn({ diagnostics, ...rest }: ErrorDetails): ErrorDetails {
  return { ...rest, ...(diagnostics && { diagnostics: asWarnings(diagnostics) }) };
}
