import type { HeldBody } from "../request/body-budget.js";
import { OverdueError, QueueFullError } from "../unavailable.js";

export interface KeyedCallQueueOptions {
  /** Calls under way at once, one connection each. */
  concurrency: number;
  /** Of them, calls of one key; not counting those that are overdue. */
  concurrencyOfKey: number;
  /** Requests that may wait in memory; past it they are refused. */
  waitingMax: number;
  /** Of them, requests of one key. */
  waitingOfKeyMax: number;
  /** Requests that one call takes at most. */
  callMax: number;
  /** A request that has no answer after so long, waiting included, is refused. */
  answerMsMax: number;
}

/** A request as whoever makes the call sees it. */
export interface QueuedRequest<Answer, Body = string> {
  readonly body: Body;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

interface Waiting<Answer, Body> extends QueuedRequest<Answer, Body> {
  /** By the clock that never goes back. */
  dueAt: number;
  held: HeldBody | undefined;
}

/** How busy a queue of calls is. */
export interface CallQueueLoad {
  waiting: number;
  calls: number;
}

interface Call<Answer, Body> {
  key: string;
  requests: Waiting<Answer, Body>[];
  /** Nobody waits for it any more, but it has not ended. */
  overdue: boolean;
}

/**
 * Makes one call of requests of one key, and answers each of them; what it throws is the answer of those that have none. `isWanted`
 * says whether anybody still waits.
 */
export type MakeCall<Answer, Body = string> = (
  key: string,
  requests: readonly QueuedRequest<Answer, Body>[],
  isWanted: () => boolean,
) => Promise<void>;

/** What is overdue is looked for so many times at most in the time that a request has. */
const CHECKS_PER_ANSWER_TIME = 50;

/**
 * A bounded way to the database. A call goes out as soon as a place is free, with what waits of one key by then, in order; keys take
 * turns. A request that is not answered in time is refused, but a call keeps its place, and what it holds of memory, until it has
 * ended, whatever the database does: so one that hangs is not flooded.
 */
export class KeyedCallQueue<Answer, Body = string> {
  readonly #queues = new Map<string, Waiting<Answer, Body>[]>();
  readonly #calls = new Set<Call<Answer, Body>>();
  #waiting = 0;
  #overdueCalls = 0;
  /** One for all requests, at the time when the first of them is overdue or earlier. */
  #check: NodeJS.Timeout | undefined;

  constructor(
    private readonly options: KeyedCallQueueOptions,
    private readonly makeCall: MakeCall<Answer, Body>,
  ) {}

  /** Requests that wait for a call, and calls under way. */
  get load(): CallQueueLoad {
    return { waiting: this.#waiting, calls: this.#calls.size };
  }

  /** Resolves with the request's answer. Throws QueueFullError or OverdueError, and what the call throws. */
  add(key: string, body: Body, held: HeldBody | undefined): Promise<Answer> {
    const { waitingMax, waitingOfKeyMax, concurrency, answerMsMax } = this.options;
    if (this.#overdueCalls === concurrency) return Promise.reject(new OverdueError());
    const waitingOfKey = this.#queues.get(key)?.length ?? 0;
    if (this.#waiting >= waitingMax || waitingOfKey >= waitingOfKeyMax) return Promise.reject(new QueueFullError());
    return new Promise((resolve, reject) => {
      held?.keep();
      const request = { body, resolve, reject, held, dueAt: performance.now() + answerMsMax };
      const queue = this.#queues.get(key);
      if (queue) queue.push(request);
      else this.#queues.set(key, [request]);
      this.#waiting += 1;
      if (this.#check === undefined) this.#check = this.#checkIn(answerMsMax);
      this.#pump();
    });
  }

  /** Makes calls while a place is free. */
  #pump(): void {
    while (this.#calls.size < this.options.concurrency) {
      const next = this.#next();
      if (next === undefined) return;
      const [key, queue] = next;
      const requests = queue.splice(0, this.options.callMax);
      // A key with more to send goes to the end of the line.
      this.#queues.delete(key);
      if (queue.length > 0) this.#queues.set(key, queue);
      this.#waiting -= requests.length;
      void this.#run({ key, requests, overdue: false });
    }
  }

  /** The first queue in line whose key may have another call. */
  #next(): [key: string, queue: Waiting<Answer, Body>[]] | undefined {
    const underWay = [...this.#calls].filter(({ overdue }) => !overdue).map(({ key }) => key);
    for (const entry of this.#queues) {
      const [key] = entry;
      if (underWay.filter((other) => other === key).length < this.options.concurrencyOfKey) return entry;
    }
    return undefined;
  }

  async #run(call: Call<Answer, Body>): Promise<void> {
    this.#calls.add(call);
    try {
      await this.makeCall(call.key, call.requests, () => !call.overdue);
    } catch (error) {
      for (const request of call.requests) request.reject(error);
    }
    this.#calls.delete(call);
    if (call.overdue) this.#overdueCalls -= 1;
    for (const { held } of call.requests) held?.release();
    this.#pump();
  }

  #checkIn(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.#refuseOverdue(), ms).unref();
  }

  #refuseOverdue(): void {
    const now = performance.now();
    const error = new OverdueError();
    let nextDueAt = Infinity;
    for (const [key, queue] of this.#queues) {
      const overdue = queue.filter(({ dueAt }) => dueAt <= now);
      for (const request of overdue) {
        request.reject(error);
        request.held?.release();
      }
      queue.splice(0, overdue.length);
      this.#waiting -= overdue.length;
      if (queue[0] === undefined) this.#queues.delete(key);
      else nextDueAt = Math.min(nextDueAt, queue[0].dueAt);
    }
    for (const call of this.#calls) {
      if (call.overdue) continue;
      const overdue = call.requests.filter(({ dueAt }) => dueAt <= now);
      // Those that were answered already do not hear of it.
      for (const request of overdue) request.reject(error);
      const next = call.requests[overdue.length];
      if (next !== undefined) nextDueAt = Math.min(nextDueAt, next.dueAt);
      else {
        call.overdue = true;
        this.#overdueCalls += 1;
      }
    }
    this.#pump();
    const pauseMs = Math.max(nextDueAt - now, this.options.answerMsMax / CHECKS_PER_ANSWER_TIME);
    this.#check = nextDueAt === Infinity ? undefined : this.#checkIn(pauseMs);
  }
}
