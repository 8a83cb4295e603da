import { type AnswerOutcome, readAnswer } from "./answer.js";
import { type Entry, operationOf } from "./entry.js";
import { ClientError } from "./errors.js";
import { type BatchLimits, EntryQueue, type QueuedEntry } from "./queue.js";
import type { ClientSettings } from "./options.js";
import { post, reasonOf } from "./post.js";
import { pauseMs } from "./backoff.js";

/** The longest delay of a timer in Node.js. */
export const TIMER_MS_MAX = 2 ** 31 - 1;

/** A timer that keeps the process running only while a caller waits for what follows it. */
class Pause {
  #timer: NodeJS.Timeout | null = null;
  #done: (() => void) | null = null;
  #keepsProcess = false;

  /** Calls back after `ms` milliseconds, or when `end` is called. Replaces an earlier pause, whose callback is then not called. */
  begin(ms: number, done: () => void): void {
    this.cancel();
    this.#done = done;
    this.#timer = setTimeout(() => this.end(), Math.min(ms, TIMER_MS_MAX));
    this.keepProcess(this.#keepsProcess);
  }

  /** Ends the pause early. Does nothing without one. */
  end(): void {
    const done = this.#done;
    this.cancel();
    done?.();
  }

  /** Cancels the pause without its callback. */
  cancel(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#done = null;
  }

  get isUnderWay(): boolean {
    return this.#timer !== null;
  }

  keepProcess(isKept: boolean): void {
    this.#keepsProcess = isKept;
    if (isKept) this.#timer?.ref();
    else this.#timer?.unref();
  }
}

/** What the sender reports. */
interface SenderEvents {
  onRetry: (error: ClientError, tries: number, waitMs: number) => void;
  /** An operation was answered; `error` says why it was refused, and is null if it was accepted. */
  onAnswered: (entry: QueuedEntry, error: ClientError | null) => void;
  /** Nothing more is sent until `send` is called, or a pause is over. */
  onStopped: (error: ClientError) => void;
}

/** How an exchange ends: with an answer that is not retried, or aborted by `end`. */
type Final = Exclude<AnswerOutcome, { kind: "again" }> | { kind: "ended" };

/**
 * Sends a queue of operations, one batch after the other, because the service may process overlapping requests in any order, and the order of a customer's
 * operations matters. A batch that may have been accepted is sent again byte for byte, with the same keys and timestamps, before any newer operation.
 */
export class Sender {
  readonly queue = new EntryQueue();
  /** The batch being sent, until it is answered. */
  #underWay: readonly QueuedEntry[] = [];
  /** Operations up to this number are sent without waiting for more. */
  #due = 0;
  #isRunning = false;
  #stopped: ClientError | null = null;
  /** Smaller than `settings.batch` after an answer that asks for smaller batches. */
  #limits: BatchLimits;
  readonly #gathering = new Pause();
  readonly #backoff = new Pause();
  readonly #end = new AbortController();
  #idle: (() => void) | null = null;

  constructor(
    private readonly settings: ClientSettings,
    private readonly events: SenderEvents,
  ) {
    this.#limits = settings.batch;
  }

  get first(): QueuedEntry | undefined {
    return this.#underWay[0] ?? this.queue.first;
  }

  /** The error because of which nothing is sent at present; null while the sender is not stopped. */
  get stopped(): ClientError | null {
    return this.#stopped;
  }

  add(entry: Entry, of: QueuedEntry["of"] = null): void {
    this.queue.push(entry, of);
    this.#go();
  }

  /** Sends all that is in the queue now, also after a stop, whose pause ends even if the queue is empty. */
  send(): void {
    this.#stopped = null;
    this.#gathering.cancel();
    this.hurry();
  }

  /** Sends all that is in the queue now, unless stopped. */
  hurry(): void {
    this.#due = this.queue.last;
    this.#go();
  }

  keepProcess(isKept: boolean): void {
    this.#gathering.keepProcess(isKept);
    this.#backoff.keepProcess(isKept);
  }

  /** Aborts the sending, and resolves with the operations that were not answered. */
  async end(): Promise<readonly QueuedEntry[]> {
    this.#end.abort();
    this.#gathering.cancel();
    this.#backoff.end();
    if (this.#isRunning) await new Promise<void>((resolve) => (this.#idle = resolve));
    return this.queue.all();
  }

  #go(): void {
    if (this.#isRunning || this.#stopped !== null || this.#end.signal.aborted || this.queue.first === undefined) return;
    if (this.#isDue()) {
      this.#gathering.cancel();
      this.#isRunning = true;
      void this.#run();
    } else if (!this.#gathering.isUnderWay) {
      this.#gathering.begin(this.settings.intervalMs, () => this.send());
    }
  }

  #isDue(): boolean {
    const { first } = this.queue;
    return first !== undefined && (first.number <= this.#due || this.queue.fills(this.#limits));
  }

  async #run(): Promise<void> {
    // Lets operations of one turn of the event loop go into one batch.
    await Promise.resolve();
    while (this.#stopped === null && !this.#end.signal.aborted && this.#isDue()) {
      const batch = this.queue.take(this.#limits);
      this.#underWay = batch;
      this.#settle(batch, await this.#exchange(batch));
    }
    this.#isRunning = false;
    this.#idle?.();
    this.#go();
  }

  async #exchange(batch: readonly QueuedEntry[]): Promise<Final> {
    const body = `{"events":[${batch.map(({ json }) => json).join()}]}`;
    for (let tries = 0; ; tries++) {
      const outcome = await this.#attempt(batch, body);
      if (this.#end.signal.aborted && outcome.kind === "again") return { kind: "ended" };
      if (outcome.kind !== "again") return outcome;
      const waitMs = pauseMs(tries, outcome.waitMs, this.settings.backoff, Math.random());
      this.events.onRetry(outcome.error, tries + 1, waitMs);
      await new Promise<void>((resolve) => this.#backoff.begin(waitMs, resolve));
      if (this.#end.signal.aborted) return { kind: "ended" };
    }
  }

  async #attempt(batch: readonly QueuedEntry[], body: string): Promise<AnswerOutcome> {
    const { url, apiKey, timeoutMs } = this.settings;
    try {
      const answer = await post(url, body, { apiKey, timeoutMs, signal: this.#end.signal });
      return readAnswer(answer, batch.length, batch.filter(({ type }) => type === "track").length, Date.now());
    } catch (cause) {
      const error = new ClientError("UNREACHABLE", `no answer from ${url}: ${reasonOf(cause)}`, { cause });
      return { kind: "again", error, waitMs: null };
    }
  }

  #settle(batch: readonly QueuedEntry[], outcome: Final): void {
    if (outcome.kind === "accepted") return this.#accept(batch, outcome.eventIds);
    if (outcome.kind === "refused") return this.#refuse(batch, outcome.errors);
    const [first] = batch;
    if (outcome.kind === "divide" && batch.length === 1 && first !== undefined)
      return this.#refuse(batch, new Map([[0, outcome.error]]));
    this.#putBack(batch);
    if (outcome.kind === "divide") this.#divide(batch, outcome.isTooLarge);
    if (outcome.kind === "stop") this.#stop(outcome.error, outcome.waitMs);
  }

  #accept(batch: readonly QueuedEntry[], eventIds: readonly string[]): void {
    this.#underWay = [];
    this.#limits = { ...this.#limits, operations: this.settings.batch.operations };
    const ids = eventIds.values();
    for (const entry of batch) {
      const id = entry.type === "track" ? (ids.next().value ?? null) : null;
      entry.of?.group.accepted(id);
      this.events.onAnswered(entry, null);
    }
  }

  /** The other operations of the batch were not accepted either, and are sent again without the refused ones. */
  #refuse(batch: readonly QueuedEntry[], errors: ReadonlyMap<number, ClientError>): void {
    this.#putBack(batch.filter((_, index) => !errors.has(index)));
    for (const [index, refusal] of errors) {
      const entry = batch[index]!;
      const error = refusal.about(operationOf(entry));
      entry.of?.group.refused(entry.of.index, error);
      this.events.onAnswered(entry, error);
    }
  }

  /** Returns operations to the front of the queue, to be sent again at once. */
  #putBack(entries: readonly QueuedEntry[]): void {
    this.#underWay = [];
    this.queue.putBack(entries);
    this.#due = Math.max(this.#due, entries.at(-1)?.number ?? 0);
  }

  /** A smaller limit of bytes stays, since the proxy's limit does, too; that of operations ends with the next batch that is accepted. */
  #divide(batch: readonly QueuedEntry[], isTooLarge: boolean): void {
    if (isTooLarge) {
      const bytes = batch.reduce((sum, entry) => sum + entry.bytes + 1, 0);
      this.#limits = { ...this.#limits, bytes: Math.ceil(bytes / 2) };
    } else this.#limits = { ...this.#limits, operations: Math.ceil(batch.length / 2) };
  }

  #stop(error: ClientError, waitMs: number): void {
    this.#stopped = error;
    this.#gathering.begin(waitMs, () => this.send());
    this.events.onStopped(error);
  }
}
