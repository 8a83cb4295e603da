import { identifyEntry, operationEntry, operationOf, trackEntry, type Entry } from "./entry.js";
import { ClientError, InvalidOperationError } from "./errors.js";
import { described } from "./json.js";
import { Group, type Waiting } from "./line.js";
import { readOptions, shown, type ClientOptions, type ClientSettings } from "./options.js";
import { Sender, TIMER_MS_MAX } from "./sender.js";
import type { AnySchema, BatchResult, EventName, Identify, Operation, Schema, SentOperation, Track } from "./types.js";

/** What a client has done since it was made, in operations. */
export interface Stats {
  /** Queued or under way; without those of `batch()`. */
  waiting: number;
  waitingBytes: number;
  accepted: number;
  /** By the service: each was told to `onError`, or is in the rejection of its `batch()`. */
  refused: number;
  /** Not queued, because there was no room or the client was closed. */
  dropped: number;
  retries: number;
}

/** Waits until everything up to an operation is answered, or until there is room again. */
interface Waiter {
  isDone(): boolean;
  resolve(): void;
  reject(error: ClientError): void;
}

/** The largest operation: what there must be room for to say that there is room. */
const OPERATION_BYTES_MAX = 80 * 1024;

/**
 * A client of the ingestion API. What it took it sends, in its order, until the service has answered: nothing is lost but what the process had not sent when
 * it was killed, and nothing is counted twice.
 */
export class Client<S extends Schema = AnySchema> {
  readonly #settings: ClientSettings;
  readonly #sender: Sender;
  readonly #waiters = new Set<Waiter>();
  readonly #groups = new Set<Group>();
  /** Let in by `ready()`, and expected to queue an operation in this turn of the event loop. */
  #expected = 0;
  readonly #stats = { waiting: 0, waitingBytes: 0, accepted: 0, refused: 0, dropped: 0, retries: 0 };
  /** Why nothing is taken, once it was told; null since something was. */
  #told: string | null = null;
  #closing: Promise<{ left: SentOperation<S>[] }> | null = null;

  /** @throws {TypeError} for options that cannot be */
  constructor(options: ClientOptions<S>);
  /** With options that know no schema. */
  // oxlint-disable-next-line typescript/unified-signatures -- of a union the compiler would not infer what onError is told
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

  get stats(): Stats {
    return { ...this.#stats };
  }

  /**
   * Something happened. Queues it and returns at once: true where it will be sent, false where the queue was full or the client closed, which `onError` is told,
   * too. Never throws because of the network.
   *
   * @throws {InvalidOperationError} for what the service would refuse
   */
  track<Name extends EventName<S>>(operation: Track<S, Name>): boolean {
    return this.#enqueue(trackEntry(operation));
  }

  /** Something is known. Queued like `track`, in one order with it. @throws {InvalidOperationError} for what the service would refuse */
  identify(operation: Identify<S>): boolean {
    return this.#enqueue(identifyEntry(operation));
  }

  /**
   * Sends operations now, after those that wait, in as many requests as they need, and resolves once all are accepted. They do not count for the queue's bounds:
   * whoever has many waits for one call before the next.
   *
   * @throws {InvalidOperationError} where one cannot be sent; then none is
   * @throws {BatchRefusedError} once all are answered, where the service refused some; the others were accepted
   * @throws {ClientError} where the service takes nothing of ours, or the client was closed; then some may have been accepted
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
   * Resolves once everything that was queued before has been answered: accepted, or refused and told to `onError`.
   * @throws {ClientError} where the service takes nothing of ours, which stays queued; `TIMEOUT` after `timeoutMs` milliseconds, if they are given
   * @throws {TypeError} for a `timeoutMs` that is no number
   */
  async flush({ timeoutMs }: { timeoutMs?: number } = {}): Promise<void> {
    checkTimeout(timeoutMs);
    const { last } = this.#sender.line;
    if (this.#closing !== null && this.#sender.first !== undefined) throw closed();
    this.#sender.send();
    const isDone = () => (this.#sender.first?.number ?? Infinity) > last;
    await this.#until(isDone, timeoutMs);
  }

  /**
   * Resolves once there is room in the queue for any operation, and keeps it for the caller until the end of this turn of the event loop: the back pressure of
   * whatever makes more than the service takes, however many wait at once.
   *
   * @throws {ClientError} where the service takes nothing of ours, or the client was closed
   */
  async ready(): Promise<void> {
    if (this.#closing !== null) throw closed();
    while (!this.#hasRoom()) {
      const { stopped } = this.#sender;
      if (stopped !== null) throw stopped;
      await this.#until(() => this.#hasRoom());
    }
    // Who was let in and queued nothing keeps nobody out.
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
   * Takes no more operations, sends those that wait for as long as `timeoutMs` (10 seconds unless given), and answers what was left: of those it is not known
   * whether they were accepted, and they may be sent again as they are. Must be called before the process ends; safe to call twice.
   *
   * @throws {TypeError} for a `timeoutMs` that is no number; then nothing was closed
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
    // Nothing could be added to what gathers.
    if (!this.#hasRoom()) this.#sender.hurry();
    return true;
  }

  #answered(entry: Waiting, error: ClientError | null): void {
    this.#stats[error === null ? "accepted" : "refused"]++;
    this.#told = null;
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

  /** Whoever waits hears it. What was queued stays; what is part of a call of `batch()` is the caller's again. */
  #stopped(error: ClientError): void {
    this.#sender.line.remove(({ of }) => of !== null);
    for (const waiter of this.#waiters) waiter.reject(error);
    for (const group of this.#groups) group.abandon(error);
    if (this.#told !== error.code) this.#settings.onError(error);
    this.#told = error.code;
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
        // A timer of more than it can wait ends at once: those, and Infinity, are as long as it takes.
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

  /** A pause keeps the process running only where somebody waits for its end. */
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
