import type { IncomingHttpHeaders } from "node:http";
import { performance } from "node:perf_hooks";
import type { Dispatcher } from "undici";
import { codeOf } from "../db/sqlstate.js";

/** How long the body of an answer may take after its head: its end shows only that the connection can be reused. */
const BODY_MS_MAX = 1_000;
/** How many bytes of an answer are kept. */
const KEPT_BYTES = 1024;
/** How many bytes of an answer are read so that its connection can be reused; after a longer answer, the connection is closed. */
const READ_BYTES_MAX = 64 * 1024;

/** How many interim answers (1xx) may precede an answer: parsing an endless series would take the whole thread. */
const INTERIM_MAX = 20;

/** What undici's messages mean. */
const MEANINGS: Readonly<Record<string, string>> = {
  "bad response": "the receiver sent an unexpected 100 Continue",
  "bad upgrade": "the receiver switched to another protocol (101)",
};
/** Instead of undici's failed assertions, which quote its source, for example for a status below 100. */
const NO_HTTP = "the receiver's answer is not HTTP";

export interface PostRequest {
  url: string;
  headers: Record<string, string>;
  /** Sent in UTF-8. */
  body: string;
  agent: Dispatcher;
  /** The time limit for the head of the answer. */
  timeoutMs: number;
}

/** An answer. Its status alone determines the result of a request, so a body that breaks off or takes too long is returned in part. */
export interface PostAnswer {
  statusCode: number;
  headers: IncomingHttpHeaders;
  /** The first KiB of the body, as far as it was received. */
  body: Buffer;
  /** Milliseconds from the request to the head of the answer. */
  latencyMs: number;
}

/** Sends a request. Rejects if no answer begins in time, or if the request fails. */
export function post({ url, headers, body, agent, timeoutMs }: PostRequest): Promise<PostAnswer> {
  const { origin, pathname, search } = new URL(url);
  // Only the deadline of the exchange counts: undici's own timeouts limit parts of it.
  const timeouts = { headersTimeout: 0, bodyTimeout: 0 };
  const options = { origin, path: pathname + search, method: "POST", headers, body, ...timeouts } as const;
  return new Promise((resolve, reject) => {
    agent.dispatch(options, new Exchange(timeoutMs, resolve, reject));
  });
}

/**
 * The handler of undici's events for one request. undici's `request` would create a stream, a signal and listeners for each, which took the worker
 * 14 of the 86 µs of a delivery.
 */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #startedAt = performance.now();
  #deadline: NodeJS.Timeout;
  readonly #kept: Buffer[] = [];
  #head: Omit<PostAnswer, "body"> | null = null;
  #bytes = 0;
  #interim = 0;
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
    // It was given up while it waited for a connection.
    if (this.#givenUp !== null) controller.abort(this.#givenUp);
  }

  onResponseStart(_: Dispatcher.DispatchController, statusCode: number, headers: IncomingHttpHeaders): void {
    // A 1xx only announces the answer.
    if (statusCode < 200) {
      this.#interim += 1;
      if (this.#interim > INTERIM_MAX) this.#giveUp(new Error("the receiver sent too many interim answers (1xx)"));
      return;
    }
    this.#head = { statusCode, headers, latencyMs: Math.round(performance.now() - this.#startedAt) };
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(() => this.#giveUp(new Error("the answer does not end")), BODY_MS_MAX);
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
    const meaning = MEANINGS[error.message];
    if (meaning !== undefined) this.#end(new Error(meaning, { cause: error }));
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
    // The error is created only if needed: its stack takes a tenth of the time of sending.
    if (this.#head === null) this.reject(error ?? new Error("there was no answer"));
    else this.resolve({ ...this.#head, body: Buffer.concat(this.#kept) });
  }
}
