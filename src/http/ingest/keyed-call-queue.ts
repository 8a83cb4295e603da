import type { HeldBody } from "../request/body-budget.js";
import { OverdueError, QueueFullError } from "../errors.js";

/** Whose a request is: organizations have their turns, and within each its keys. */
export interface KeyHolder {
  organizationId: string;
  keyHash: Buffer;
}

export interface KeyedCallQueueOptions {
  /** Calls under way at once, one connection each. */
  concurrency: number;
  /** Of them, calls of one organization, and of one of its keys; not counting those that are overdue. */
  concurrencyOfOrganization: number;
  concurrencyOfKey: number;
  /** Requests that may wait in memory, half of them of one organization: it leaves room to others. Past it they are refused. */
  waitingMax: number;
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

/** What waits of an organization, by key; who is first in line comes first. */
interface Line<Answer, Body> {
  length: number;
  byKey: Map<string, Waiting<Answer, Body>[]>;
}

/** How busy a queue of calls is. */
export interface CallQueueLoad {
  waiting: number;
  calls: number;
}

interface Call<Answer, Body> {
  organizationId: string;
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
  keyHash: Buffer,
  requests: readonly QueuedRequest<Answer, Body>[],
  isWanted: () => boolean,
) => Promise<void>;

/** What is overdue is looked for so many times at most in the time that a request has. */
const CHECKS_PER_ANSWER_TIME = 50;

/**
 * A bounded way to the database. A call goes out as soon as a place is free, with what waits of one key by then, in order. Organizations
 * take turns, however many keys they have, and so do the keys of each. A request that is not answered in time is refused, but a call keeps
 * its place, and what it holds of memory, until it has ended, whatever the database does: so one that hangs is not flooded.
 */
export class KeyedCallQueue<Answer, Body = string> {
  readonly #lines = new Map<string, Line<Answer, Body>>();
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
  add({ organizationId, keyHash }: KeyHolder, body: Body, held: HeldBody | undefined): Promise<Answer> {
    const { waitingMax, concurrency, answerMsMax } = this.options;
    if (this.#overdueCalls === concurrency) return Promise.reject(new OverdueError());
    const line: Line<Answer, Body> = this.#lines.get(organizationId) ?? { length: 0, byKey: new Map() };
    if (this.#waiting >= waitingMax || line.length >= waitingMax / 2) {
      return Promise.reject(new QueueFullError());
    }
    return new Promise((resolve, reject) => {
      held?.keep();
      const request = { body, resolve, reject, held, dueAt: performance.now() + answerMsMax };
      const key = keyHash.toString("hex");
      const ofKey = line.byKey.get(key);
      if (ofKey) ofKey.push(request);
      else line.byKey.set(key, [request]);
      this.#lines.set(organizationId, line);
      this.#count(line, 1);
      if (this.#check === undefined) this.#check = this.#checkIn(answerMsMax);
      this.#pump();
    });
  }

  #count(line: Line<Answer, Body>, requests: number): void {
    line.length += requests;
    this.#waiting += requests;
  }

  /** Makes calls while a place is free. */
  #pump(): void {
    while (this.#calls.size < this.options.concurrency) {
      const next = this.#next();
      if (next === undefined) return;
      const { organizationId, line, key, ofKey } = next;
      const requests = ofKey.splice(0, this.options.callMax);
      this.#count(line, -requests.length);
      // Who has more to send goes to the end of the line.
      line.byKey.delete(key);
      if (ofKey.length > 0) line.byKey.set(key, ofKey);
      this.#lines.delete(organizationId);
      if (line.length > 0) this.#lines.set(organizationId, line);
      void this.#run({ organizationId, key, requests, overdue: false });
    }
  }

  /** What the first key in line has, of the first organization in line, that may have another call. */
  #next() {
    const { concurrencyOfOrganization, concurrencyOfKey } = this.options;
    const underWay = [...this.#calls].filter(({ overdue }) => !overdue);
    for (const [organizationId, line] of this.#lines) {
      const ofOrganization = underWay.filter((call) => call.organizationId === organizationId);
      if (ofOrganization.length >= concurrencyOfOrganization) continue;
      for (const [key, ofKey] of line.byKey) {
        if (ofOrganization.filter((call) => call.key === key).length >= concurrencyOfKey) continue;
        return { organizationId, line, key, ofKey };
      }
    }
    return undefined;
  }

  async #run(call: Call<Answer, Body>): Promise<void> {
    this.#calls.add(call);
    try {
      await this.makeCall(Buffer.from(call.key, "hex"), call.requests, () => !call.overdue);
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
    for (const [organizationId, line] of this.#lines) {
      for (const [key, ofKey] of line.byKey) {
        const overdue = ofKey.filter(({ dueAt }) => dueAt <= now);
        for (const request of overdue) {
          request.reject(error);
          request.held?.release();
        }
        ofKey.splice(0, overdue.length);
        this.#count(line, -overdue.length);
        if (ofKey[0] === undefined) line.byKey.delete(key);
        else nextDueAt = Math.min(nextDueAt, ofKey[0].dueAt);
      }
      if (line.length === 0) this.#lines.delete(organizationId);
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
