import type { EventSourceMessage } from "eventsource-parser";

import { failure, UserError } from "../core/errors.js";
import type { Credentials, Settings } from "../core/settings.js";
import type { JsonText } from "../output/out.js";
import { isObject, jsonOf } from "../../words/text.js";
import {
  ANSWER_MS_MAX,
  withDiagnosis,
  envelopeError,
  notUnderstood,
  shapeOf,
  unexpectedAnswer,
  unreachable,
} from "./failures.js";
import { type Head, send } from "./transport.js";

/** An answer, as data and as the received text. Only the text has all digits of numbers that JavaScript cannot represent. */
export interface ApiAnswer<T> extends JsonText {
  data: T;
}

/** Undefined and false parameters are left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** An absolute path, or the parts of a path below the project; the latter is requested in the current environment. */
export type ApiPath = string | readonly string[];

export type Members<T> = readonly (keyof T & string)[];

/** A request's JSON text, and the signal that aborts it. */
interface Sent {
  body?: string | undefined;
  signal?: AbortSignal | undefined;
}

interface Request extends Sent {
  method: "GET" | "POST" | "PATCH" | "DELETE";
  url: URL;
  path: string;
  headers: Record<string, string>;
}

interface StreamOptions extends Sent {
  type: string;
  headers?: Record<string, string>;
}

/** Talks to the service over HTTP. All failures become a `UserError` that says where it failed and what to do. */
export class Api {
  /** Sent with every request, so that the service's logs show which requests belong to this run. */
  readonly requestId: string;
  readonly #settings: Settings;
  readonly #credentials: Credentials | undefined;
  readonly #end: AbortSignal | undefined;
  /** Whether an answer was read, by this one or by one that was made of it. */
  #answers = { isAny: false };

  /** @param credentials those of the settings unless given. @param end aborts every request */
  constructor(settings: Settings, requestId: string, credentials?: Credentials, end?: AbortSignal) {
    this.requestId = requestId;
    this.#settings = settings;
    this.#credentials = credentials;
    this.#end = end;
  }

  #with(credentials: Credentials | undefined, end: AbortSignal | undefined): Api {
    const other = new Api(this.#settings, this.requestId, credentials, end);
    other.#answers = this.#answers;
    return other;
  }

  /** The same service with other credentials. */
  as(credentials: Credentials): Api {
    return this.#with(credentials, this.#end);
  }

  /** The same service, with all requests aborted by the signal. */
  until(end: AbortSignal): Api {
    return this.#with(this.#credentials, end);
  }

  /**
   * What made a command fail: what was thrown, or that an answer was not understood. Only the outer members of answers are checked, so an inner one
   * that a service of another version does not have is found missing where it is used.
   */
  async causeOf(thrown: unknown): Promise<unknown> {
    if (!(thrown instanceof TypeError) || !this.#answers.isAny) return thrown;
    return (await notUnderstood(this.#settings.apiUrl, thrown)) ?? thrown;
  }

  /** Reads. `members` are those that the answer must have; if one is missing, the service is of another version. */
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
   * The bytes of an answer that is too long or arrives too slowly to be read at once, until the service or the signal ends it. If the
   * connection breaks they end with a failure, which `unreachable` puts into words. With a `body`, which is JSON text, it is a POST.
   */
  async stream(
    path: ApiPath,
    query: Query,
    { type, headers = {}, signal, body }: StreamOptions,
  ): Promise<AsyncIterable<Uint8Array>> {
    const base = this.#settings.apiUrl;
    const request = this.#request(body === undefined ? "GET" : "POST", path, { query, body });
    // The time limit applies only until the answer begins.
    const silence = new AbortController();
    const timer = setTimeout(() => silence.abort(new DOMException("", "TimeoutError")), ANSWER_MS_MAX);
    try {
      const all = { ...request, headers: { ...headers, ...request.headers } };
      const response = await this.#open(all, anyOf(silence.signal, signal), type);
      if (!isSuccess(response)) throw await this.#refused(base, response, await response.text());
      if (response.headers.get("content-type")?.startsWith(type) !== true) {
        response.close();
        throw await withDiagnosis(
          base,
          response,
          unexpectedAnswer(base, response.status, `something other than ${type}`),
        );
      }
      this.#answers.isAny = true;
      return response.chunks;
    } catch (error) {
      throw error instanceof UserError ? error : unreachable(base, error);
    } finally {
      clearTimeout(timer);
    }
  }

  /**
   * The bytes of a long answer, which ends by itself; `what` names it. They end with a failure if the connection breaks, or if nothing
   * arrives for much longer than it takes to find the next item.
   */
  async download(
    path: ApiPath,
    query: Query,
    { what, signal, ...options }: Omit<StreamOptions, "body"> & { what: string },
  ): Promise<AsyncIterable<Uint8Array>> {
    const silence = new AbortController();
    const end = () => silence.abort(new DOMException("", "TimeoutError"));
    const chunks = await this.stream(path, query, { ...options, signal: anyOf(silence.signal, signal) });
    return whole(watched(chunks, PAUSE_MS_MAX, end), `${what} from ${this.#settings.apiUrl}`);
  }

  /** The messages of a stream of server-sent events, until the service or the signal ends it; fails if nothing arrives for `silentMsMax`. */
  async *messages(
    path: ApiPath,
    query: Query,
    { silentMsMax, signal, ...options }: Omit<StreamOptions, "type"> & { silentMsMax: number; signal: AbortSignal },
  ): AsyncGenerator<EventSourceMessage> {
    // Imported here, as most commands read no such stream, and before the stream is opened: data that is not read at once is lost with the connection.
    const { createParser } = await import("eventsource-parser");
    const silence = new AbortController();
    const end = () => silence.abort(new Error(`nothing came for ${silentMsMax / 1000} seconds`));
    const signals = AbortSignal.any([signal, silence.signal]);
    const chunks = await this.stream(path, query, { ...options, type: "text/event-stream", signal: signals });
    const messages: EventSourceMessage[] = [];
    const parser = createParser({ onEvent: (message) => messages.push(message) });
    const decoder = new TextDecoder();
    for await (const chunk of watched(chunks, silentMsMax, end)) {
      parser.feed(decoder.decode(chunk, { stream: true }));
      yield* messages.splice(0);
    }
  }

  /** Sends JSON text to an ingestion endpoint, with the ingestion key. */
  ingest<T extends object>(path: string, body: string, members: Members<T>): Promise<ApiAnswer<T>> {
    const headers = { authorization: `Bearer ${this.#settings.apiKey}` };
    return this.#send({ method: "POST", ...this.#address(path), headers, body }, members);
  }

  #actor(): Credentials {
    return this.#credentials ?? this.#settings.credentials();
  }

  #request(
    method: Request["method"],
    path: ApiPath,
    { query, ...rest }: Sent & { query?: Query | undefined },
  ): Request {
    const { accessToken, organization } = this.#actor();
    const authorization = `Bearer ${accessToken}`;
    const headers =
      organization === undefined ? { authorization } : { authorization, "x-svc-organization": organization };
    return { method, ...this.#address(path, query), headers, ...rest };
  }

  #address(path: ApiPath, query: Query = {}): Pick<Request, "url" | "path"> {
    const isFixed = typeof path === "string";
    const pathname = isFixed ? path : ["", "projects", this.#settings.project, ...path].map(pathPart).join("/");
    const parameters = isFixed ? query : { env: this.#settings.environment, ...query };
    const url = new URL(this.#settings.apiUrl);
    for (const [name, value] of Object.entries(parameters)) {
      if (value !== undefined && value !== false) url.searchParams.set(name, String(value));
    }
    return { url, path: url.pathname.replace(/\/$/, "") + pathname + url.search };
  }

  async #send<T extends object>(request: Request, members: Members<T>): Promise<ApiAnswer<T>> {
    const base = this.#settings.apiUrl;
    const signal = anyOf(AbortSignal.timeout(ANSWER_MS_MAX), request.signal);
    const opened = this.#open(request, signal, "application/json");
    const [response, text] = await opened
      .then(async (head) => [head, await head.text()] as const)
      .catch((error: unknown) => {
        throw unreachable(base, error);
      });
    if (!isSuccess(response)) throw await this.#refused(base, response, text);
    const data = jsonOf(text);
    this.#answers.isAny = true;
    if (isObject(data) && members.every((name) => name in data)) return { text, data: data as T };
    throw await withDiagnosis(base, response, unexpectedAnswer(base, response.status, shapeOf(data)));
  }

  #refused(base: string, response: Head, text: string): Promise<UserError> {
    const error = envelopeError(base, response.status, jsonOf(text), () => this.#actor());
    return withDiagnosis(base, response, error);
  }

  #open({ method, url, path, headers, body }: Request, signal: AbortSignal, accept: string) {
    const isJson = body === undefined ? {} : { "content-type": "application/json" };
    return send(url, {
      method,
      path,
      headers: { accept, "x-request-id": this.requestId, ...isJson, ...headers },
      ...(body === undefined ? {} : { body }),
      signal: anyOf(signal, this.#end),
    });
  }
}

/** Of a list whose filter few of many items pass, the service reads many pages from which it sends nothing. */
const PAUSE_MS_MAX = 10 * 60_000;

/** Passes chunks on, and calls `end` if the next one does not arrive in time. */
async function* watched(
  chunks: AsyncIterable<Uint8Array>,
  silentMsMax: number,
  end: () => void,
): AsyncGenerator<Uint8Array> {
  let timer = setTimeout(end, silentMsMax);
  try {
    for await (const chunk of chunks) {
      // The time that the consumer takes, such as a pager, says nothing about the connection.
      clearTimeout(timer);
      yield chunk;
      timer = setTimeout(end, silentMsMax);
    }
  } finally {
    clearTimeout(timer);
  }
}

/** Passes chunks on, and puts the failure of the connection into words. */
async function* whole(chunks: AsyncIterable<Uint8Array>, what: string): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks;
  } catch (error) {
    throw failure("SERVICE_UNREACHABLE", `${what} broke off before its end`, "try again", error);
  }
}

function isSuccess({ status }: Head): boolean {
  return status >= 200 && status <= 299;
}

function anyOf(first: AbortSignal, second: AbortSignal | undefined): AbortSignal {
  return second === undefined ? first : AbortSignal.any([first, second]);
}

/** An identifier as a part of a path; "." and ".." are escaped too. @throws {UserError} INVALID_SETTING if it has a lone surrogate */
export function pathPart(part: string): string {
  if (!/\p{Cs}/u.test(part)) return encodeURIComponent(part).replace(/^\.{1,2}$/, (dots) => "%2E".repeat(dots.length));
  const message = `${JSON.stringify(part)} is not an identifier: it contains half a character`;
  throw failure("INVALID_SETTING", message, "check it, and give the whole of it");
}
