import type { IncomingHttpHeaders } from "node:http";
import { performance } from "node:perf_hooks";
import type { Dispatcher } from "undici";
import { codeOf } from "../db/sqlstate.js";

/** How much of an answer is kept. */
const KEPT_BYTES = 1024;
/** How much of an answer is read so that its connection can be used again; a longer one costs the connection. */
const READ_BYTES_MAX = 64 * 1024;

/** What undici, which takes no such answer, calls a bad one. */
const CONTINUED = "the receiver sent 100 Continue, which it was not asked for";
/** Where undici's own checks fail, with words of its source: a status below 100, for example. */
const NO_HTTP = "the receiver's answer is not HTTP";

export interface PostRequest {
  url: string;
  headers: Record<string, string>;
  /** Sent in UTF-8. */
  body: string;
  agent: Dispatcher;
  /** The head of the answer must be there by then; reading its body ends then, too. */
  timeoutMs: number;
}

/** What was answered. The status settles how a request ended, so of a body that breaks off or outlasts the time there is what came of it. */
export interface PostAnswer {
  statusCode: number;
  headers: IncomingHttpHeaders;
  /** The first KiB of the body, as far as it came. */
  body: Buffer;
  /** Milliseconds from the request to the head of the answer. */
  latencyMs: number;
}

/** Sends a request. Rejects where no answer begins in time, or none can come. */
export function post({ url, headers, body, agent, timeoutMs }: PostRequest): Promise<PostAnswer> {
  const { origin, pathname, search } = new URL(url);
  // The exchange's deadline is the only one: undici's own count parts of it.
  const timeouts = { headersTimeout: 0, bodyTimeout: 0 };
  const options = { origin, path: pathname + search, method: "POST", headers, body, ...timeouts } as const;
  return new Promise((resolve, reject) => {
    agent.dispatch(options, new Exchange(timeoutMs, resolve, reject));
  });
}

/**
 * A request under way, as undici tells of it. Its `request` makes a stream, a signal and their listeners of each, which took the worker 14 µs
 * of the 86 that a delivery cost.
 */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #begunAt = performance.now();
  readonly #deadline: NodeJS.Timeout;
  readonly #kept: Buffer[] = [];
  #head: Omit<PostAnswer, "body"> | null = null;
  #bytes = 0;
  #controller: Dispatcher.DispatchController | null = null;
  /** Why it was given up. */
  #givenUp: Error | null = null;
  #isOver = false;

  constructor(
    timeoutMs: number,
    private readonly resolve: (answer: PostAnswer) => void,
    private readonly reject: (error: Error) => void,
  ) {
    const late = () => this.#giveUp(new Error(`no answer within ${timeoutMs / 1000} seconds`));
    this.#deadline = setTimeout(late, timeoutMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    // While it waited for a connection.
    if (this.#givenUp !== null) controller.abort(this.#givenUp);
  }

  onResponseStart(_: Dispatcher.DispatchController, statusCode: number, headers: IncomingHttpHeaders): void {
    // Others only announce the answer.
    if (statusCode < 200) return;
    this.#head = { statusCode, headers, latencyMs: Math.round(performance.now() - this.#begunAt) };
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#bytes < KEPT_BYTES) this.#kept.push(chunk.subarray(0, KEPT_BYTES - this.#bytes));
    this.#bytes += chunk.length;
    if (this.#bytes > READ_BYTES_MAX) this.#giveUp(new Error("the answer is too long to be read"));
  }

  onResponseEnd(): void {
    this.#end();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (error.message === "bad response") this.#end(new Error(CONTINUED, { cause: error }));
    else this.#end(codeOf(error) === "ERR_ASSERTION" ? new Error(NO_HTTP) : error);
  }

  #giveUp(reason: Error): void {
    this.#givenUp = reason;
    this.#end(reason);
    this.#controller?.abort(reason);
  }

  #end(error?: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#deadline);
    // Made only where it is needed: the stack of an error takes a tenth of the time of sending.
    if (this.#head === null) this.reject(error ?? new Error("there was no answer"));
    else this.resolve({ ...this.#head, body: Buffer.concat(this.#kept) });
  }
}
