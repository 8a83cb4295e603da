import type { EventSourceMessage } from "eventsource-parser";

import { failure, UserError } from "../core/errors.js";
import type { Credentials, Settings } from "../core/settings.js";
import type { JsonText } from "../output/out.js";
import { isObject, jsonOf } from "../../words/text.js";
import { ANSWER_MS_MAX, explained, envelopeError, shapeOf, unexpected, unreachable } from "./failures.js";
import { type Head, send } from "./transport.js";

/** An answer: as data, and as the text that came. Only the text has all digits of numbers that JavaScript cannot hold. */
export interface ApiAnswer<T> extends JsonText {
  status: number;
  data: T;
}

/** What is undefined or false is left out. */
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** An address that begins with a slash, or the parts of one in the project: what lies there is asked for in the environment that is set. */
export type ApiPath = string | readonly string[];

type Members<T> = readonly (keyof T & string)[];

/** What is sent: JSON text, and what ends it before its answer came. */
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

/** Talks to the service over HTTP. Whatever goes wrong becomes a `UserError` that says where and what to do. */
export class Api {
  /** Sent with every request, so that the service's logs show what belongs to this run. */
  readonly requestId: string;
  readonly #settings: Settings;
  readonly #credentials: Credentials | undefined;
  readonly #end: AbortSignal | undefined;

  /** @param credentials those of the settings unless given. @param end ends every request */
  constructor(settings: Settings, requestId: string, credentials?: Credentials, end?: AbortSignal) {
    this.requestId = requestId;
    this.#settings = settings;
    this.#credentials = credentials;
    this.#end = end;
  }

  /** The same service in the name of somebody else. */
  as(credentials: Credentials): Api {
    return new Api(this.#settings, this.requestId, credentials, this.#end);
  }

  /** The same service, asked until the signal ends it. */
  until(end: AbortSignal): Api {
    return new Api(this.#settings, this.requestId, this.#credentials, end);
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
   * The bytes of an answer that is too long, or too slow in coming, to be read as one, until the service or the signal ends it. Where the
   * connection breaks they end with a failure, which `unreachable` tells in words. With a `body`, which is JSON text, it is the answer to that.
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

  /** The messages of a stream of server-sent events, until the service or the signal ends it; fails where nothing comes for `silentMsMax`. */
  async *messages(
    path: ApiPath,
    query: Query,
    { silentMsMax, signal, ...options }: Omit<StreamOptions, "type"> & { silentMsMax: number; signal: AbortSignal },
  ): AsyncGenerator<EventSourceMessage> {
    // Not above: most commands read no such stream. Before it is opened: what comes, and is not read at once, is lost with its connection.
    const { createParser } = await import("eventsource-parser");
    const silence = new AbortController();
    const end = () => silence.abort(new Error(`nothing came for ${silentMsMax / 1000} seconds`));
    const signals = AbortSignal.any([signal, silence.signal]);
    const chunks = await this.stream(path, query, { ...options, type: "text/event-stream", signal: signals });
    let timer = setTimeout(end, silentMsMax);
    try {
      const messages: EventSourceMessage[] = [];
      const parser = createParser({ onEvent: (message) => messages.push(message) });
      const decoder = new TextDecoder();
      for await (const chunk of chunks) {
        // How long the reader takes to read, as a pager does, says nothing of the connection.
        clearTimeout(timer);
        parser.feed(decoder.decode(chunk, { stream: true }));
        yield* messages.splice(0);
        timer = setTimeout(end, silentMsMax);
      }
    } finally {
      clearTimeout(timer);
    }
  }

  /** Sends to an ingestion endpoint, with an ingestion key. `body` is JSON text. */
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
    const place = isFixed ? path : ["", "projects", this.#settings.project, ...path].map(pathPart).join("/");
    const asked = isFixed ? query : { env: this.#settings.environment, ...query };
    const url = new URL(this.#settings.apiUrl);
    for (const [name, value] of Object.entries(asked)) {
      if (value !== undefined && value !== false) url.searchParams.set(name, String(value));
    }
    return { url, path: url.pathname.replace(/\/$/, "") + place + url.search };
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
    const { status } = response;
    const data = jsonOf(text);
    if (isObject(data) && members.every((name) => name in data)) return { status, text, data: data as T };
    throw await explained(base, response, unexpected(base, status, shapeOf(data)));
  }

  #refused(base: string, response: Head, text: string): Promise<UserError> {
    const error = envelopeError(base, response.status, jsonOf(text), () => this.#actor());
    return explained(base, response, error);
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

function isSuccess({ status }: Head): boolean {
  return status >= 200 && status <= 299;
}

function anyOf(first: AbortSignal, second: AbortSignal | undefined): AbortSignal {
  return second === undefined ? first : AbortSignal.any([first, second]);
}

/** An identifier as a part of a path, also one that reads as a folder. @throws {UserError} INVALID_SETTING of one that is no text */
export function pathPart(part: string): string {
  if (!/\p{Cs}/u.test(part)) return encodeURIComponent(part).replace(/^\.{1,2}$/, (dots) => "%2E".repeat(dots.length));
  const message = `${JSON.stringify(part)} is no identifier: it holds half a character`;
  throw failure("INVALID_SETTING", message, "check it, and give the whole of it");
}
