import { identifyEntry, operationEntry, operationOf, trackEntry, type Entry } from "./entry.js";
import { ClientError, InvalidOperationError } from "./errors.js";
import { described } from "./json.js";
import { Group, type QueuedEntry } from "./queue.js";
import { readOptions, shown, type ClientOptions, type ClientSettings } from "./options.js";
import { Sender, TIMER_MS_MAX } from "./sender.js";
import type { AnySchema, BatchResult, EventName, Identify, Operation, Schema, SentOperation, Track } from "./types.js";

/** Counts of operations since the client was created. */
export interface Stats {
  /** Queued or being sent, without those of `batch()`. */
  waiting: number;
  waitingBytes: number;
  accepted: number;
  /** Refused by the service. Each was passed to `onError`, or is listed in the rejection of its `batch()`. */
  refused: number;
  /** Not queued, because the queue was full or the client closed. */
  dropped: number;
  /** Requests that were sent again. */
  retries: number;
}

/** A pending `flush()` or `ready()`: waits until all operations up to one are answered, or until there is room again. */
interface Waiter {
  isDone(): boolean;
  resolve(): void;
  reject(error: ClientError): void;
}

/** The size of the largest operation. There is room in the queue as long as this fits in. */
const OPERATION_BYTES_MAX = 80 * 1024;

/**
 * A client of the ingestion API. It sends the operations that it took in their order, and each again until the service has answered: nothing is counted twice,
 * and nothing is lost, except what was not sent yet when the process was killed.
 */
export class Client<S extends Schema = AnySchema> {
  readonly #settings: ClientSettings;
  readonly #sender: Sender;
  readonly #waiters = new Set<Waiter>();
  readonly #groups = new Set<Group>();
  /** Callers that `ready()` let continue, each of which is expected to queue an operation in this turn of the event loop. */
  #expected = 0;
  readonly #stats = { waiting: 0, waitingBytes: 0, accepted: 0, refused: 0, dropped: 0, retries: 0 };
  /** The code of the error that stopped the client, once `onError` got it; null after the next answer to an operation. */
  #reportedStop: string | null = null;
  #closing: Promise<{ left: SentOperation<S>[] }> | null = null;

  /** @throws {TypeError} for an unknown or invalid option */
  constructor(options: ClientOptions<S>);
  /** With options that are not typed by a schema. */
  // oxlint-disable-next-line typescript/unified-signatures -- from a union, the compiler would not infer the parameter of onError
  constructor(options: ClientOptions);
  constructor(options: ClientOptions) {
    this.#settings = readOptions(options);
    this.#sender = new Sender(this.#settings, {
      onRetry: (error, tries, waitMs) => {
        this.#stats.retries++;
        this.#settings.onRetry(error, { tries, waitMs });
      },
      onAnswered: (entry, error) => this.#answered(entry, error),
      onStopped: (error) => this.#stopped(error),
    });
  }

  /** Counts of operations since the client was created. */
  get stats(): Stats {
    return { ...this.#stats };
  }

  /**
   * Queues an event and returns at once: true if it will be sent, false if the queue is full or the client closed, in which case `onError` is called, too.
   * Never throws because of the network.
   *
   * @throws {InvalidOperationError} for an operation that the service would refuse
   */
  track<Name extends EventName<S>>(operation: Track<S, Name>): boolean {
    return this.#enqueue(trackEntry(operation));
  }

  /** Queues traits of a customer, in one order with the events of `track`. @throws {InvalidOperationError} for an operation that the service would refuse */
  identify(operation: Identify<S>): boolean {
    return this.#enqueue(identifyEntry(operation));
  }

  /**
   * Sends operations now, after those in the queue, in as many requests as necessary, and resolves once all are accepted. They do not count towards the limits
   * of the queue: with many operations, await one call before the next.
   *
   * @throws {InvalidOperationError} if one of them cannot be sent; then none is
   * @throws {BatchRefusedError} once all are answered, if the service refused some; the others were accepted
   * @throws {ClientError} if the service accepts nothing of this client, or the client was closed; some operations may have been accepted before
   */
  async batch(operations: readonly Operation<S>[]): Promise<BatchResult> {
    if (!Array.isArray(operations))
      throw new InvalidOperationError("operations", `must be an array, not ${described(operations)}`);
    const entries = operations.map((operation, index) => operationEntry(operation, `operations[${index}].`));
    if (this.#closing !== null) throw closed();
    if (entries.length === 0) return { accepted: 0, eventIds: [] };
    const group = new Group(entries.length);
    this.#groups.add(group);
    this.#keepProcess();
    for (const [index, entry] of entries.entries()) this.#sender.add(entry, { group, index });
    this.#sender.send();
    return group.result.finally(() => {
      this.#groups.delete(group);
      this.#keepProcess();
    });
  }

  /**
   * Sends the queue now, and resolves once everything that was queued before the call has been answered: accepted, or refused and passed to `onError`.
   * @throws {ClientError} if the service accepts nothing of this client; the operations stay queued. `TIMEOUT` after `timeoutMs` milliseconds, if given
   * @throws {TypeError} for a `timeoutMs` that is not a number
   */
  async flush({ timeoutMs }: { timeoutMs?: number } = {}): Promise<void> {
    checkTimeout(timeoutMs);
    const { last } = this.#sender.queue;
    if (this.#closing !== null && this.#sender.first !== undefined) throw closed();
    this.#sender.send();
    const isDone = () => (this.#sender.first?.number ?? Infinity) > last;
    await this.#until(isDone, timeoutMs);
  }

  /**
   * Resolves once the queue has room for any operation, and reserves it for the caller until the end of this turn of the event loop. This is the back pressure
   * for code that produces operations faster than the service accepts them; any number of callers can wait at once.
   *
   * @throws {ClientError} if there is no room and the service accepts nothing of this client, or the client was closed
   */
  async ready(): Promise<void> {
    if (this.#closing !== null) throw closed();
    while (!this.#hasRoom()) {
      const { stopped } = this.#sender;
      if (stopped !== null) throw stopped;
      await this.#until(() => this.#hasRoom());
    }
    // A reservation that was not used ends with this turn of the event loop.
    if (this.#expected++ > 0) return;
    setImmediate(() => {
      this.#expected = 0;
      this.#wake();
    });
  }

  #hasRoom(): boolean {
    const { operations, bytes } = this.#settings.queue;
    const { waiting, waitingBytes } = this.#stats;
    return waiting + this.#expected < operations && waitingBytes + (this.#expected + 1) * OPERATION_BYTES_MAX <= bytes;
  }

  /**
   * Takes no more operations, sends the queue for at most `timeoutMs` (10 seconds by default), and resolves with the operations that are left. It is unknown
   * whether these were accepted; they can be sent again unchanged. Must be called before the process ends; can be called twice.
   *
   * @throws {TypeError} for a `timeoutMs` that is not a number; the client is then still open
   */
  async close({ timeoutMs = 10_000 }: { timeoutMs?: number } = {}): Promise<{ left: SentOperation<S>[] }> {
    checkTimeout(timeoutMs);
    if (this.#closing === null) {
      const flushed = this.flush({ timeoutMs });
      this.#closing = flushed.catch(() => undefined).then(() => this.#end());
    }
    return this.#closing;
  }

  async #end(): Promise<{ left: SentOperation<S>[] }> {
    const entries = await this.#sender.end();
    for (const waiter of this.#waiters) waiter.reject(closed());
    for (const group of this.#groups) group.abandon(closed());
    return { left: entries.filter(({ of }) => of === null).map((entry) => operationOf<S>(entry)) };
  }

  #enqueue(entry: Entry): boolean {
    this.#expected = Math.max(0, this.#expected - 1);
    const { operations, bytes } = this.#settings.queue;
    const isFull = this.#stats.waiting >= operations || this.#stats.waitingBytes + entry.bytes > bytes;
    if (isFull || this.#closing !== null) {
      this.#stats.dropped++;
      const operation = operationOf(entry);
      this.#settings.onError(
        this.#closing === null
          ? new ClientError("QUEUE_FULL", `the queue is full: ${this.#stats.waiting} operations wait`, { operation })
          : closed(operation),
      );
      return false;
    }
    this.#stats.waiting++;
    this.#stats.waitingBytes += entry.bytes;
    this.#sender.add(entry);
    // Nothing more can be gathered: send now.
    if (!this.#hasRoom()) this.#sender.hurry();
    return true;
  }

  #answered(entry: QueuedEntry, error: ClientError | null): void {
    this.#stats[error === null ? "accepted" : "refused"]++;
    this.#reportedStop = null;
    if (entry.of === null) {
      this.#stats.waiting--;
      this.#stats.waitingBytes -= entry.bytes;
      if (error !== null) this.#settings.onError(error);
    }
    this.#wake();
  }

  #wake(): void {
    for (const waiter of this.#waiters) if (waiter.isDone()) waiter.resolve();
  }

  /** Rejects all pending calls. Queued operations stay; those of a `batch()` are removed, since its caller gets the error. */
  #stopped(error: ClientError): void {
    this.#sender.queue.remove(({ of }) => of !== null);
    for (const waiter of this.#waiters) waiter.reject(error);
    for (const group of this.#groups) group.abandon(error);
    if (this.#reportedStop !== error.code) this.#settings.onError(error);
    this.#reportedStop = error.code;
  }

  async #until(isDone: () => boolean, timeoutMs?: number): Promise<void> {
    if (isDone()) return;
    let waiter: Waiter | undefined;
    let timer: NodeJS.Timeout | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        waiter = { isDone, resolve, reject };
        this.#waiters.add(waiter);
        this.#keepProcess();
        // A timer that exceeds the maximum of Node.js would end at once: such a timeout, and Infinity, mean no timeout.
        if (timeoutMs === undefined || timeoutMs > TIMER_MS_MAX) return;
        const error = new ClientError("TIMEOUT", `not everything was answered within ${timeoutMs} ms`);
        timer = setTimeout(() => reject(error), timeoutMs);
      });
    } finally {
      clearTimeout(timer);
      this.#waiters.delete(waiter!);
      this.#keepProcess();
    }
  }

  /** A pause keeps the process running only while a call is pending. */
  #keepProcess(): void {
    this.#sender.keepProcess(this.#waiters.size + this.#groups.size > 0);
  }
}

function checkTimeout(timeoutMs: unknown): void {
  if (timeoutMs === undefined || (typeof timeoutMs === "number" && !Number.isNaN(timeoutMs))) return;
  throw new TypeError(`timeoutMs must be a number of milliseconds, or Infinity, not ${shown(timeoutMs)}`);
}

function closed(operation: SentOperation | null = null): ClientError {
  return new ClientError("CLOSED", "the client was closed", { operation });
}
