import type { HeldBody } from "../request/body-budget.js";
import { OverdueError, QueueFullError } from "../errors.js";

/** The key of a request and its organization: organizations take turns, and so do the keys within each. */
export interface KeyHolder {
  organizationId: string;
  keyHash: Buffer;
}

export interface KeyedCallQueueOptions {
  /** Concurrent calls; each uses one connection. */
  concurrency: number;
  /** Concurrent calls of one organization and of one of its keys, not counting overdue calls. */
  concurrencyOfOrganization: number;
  concurrencyOfKey: number;
  /** Requests that may wait in memory, at most half of them of one organization; further ones are refused. */
  waitingMax: number;
  /** The most requests in one call. */
  callMax: number;
  /** A request without an answer after this time, including its wait, is refused. */
  answerMsMax: number;
}

/** A request in a call. */
export interface QueuedRequest<Answer, Body = string> {
  readonly body: Body;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

interface Waiting<Answer, Body> extends QueuedRequest<Answer, Body> {
  /** Refuses the request when it is overdue. */
  timer: NodeJS.Timeout;
  held: HeldBody | undefined;
}

/** The waiting requests of an organization by key; the key whose turn is next comes first. */
interface Line<Answer, Body> {
  length: number;
  byKey: Map<string, Waiting<Answer, Body>[]>;
}

/** The numbers of waiting requests and running calls. */
export interface CallQueueLoad {
  waiting: number;
  calls: number;
}

interface Call<Answer, Body> {
  organizationId: string;
  key: string;
  requests: Waiting<Answer, Body>[];
  /** All its requests were refused, but it still runs. */
  overdue: boolean;
}

/**
 * Makes one call with requests of one key, and resolves or rejects each. If it throws, all that are still pending are rejected. `isWanted` says
 * whether any request still waits.
 */
export type MakeCall<Answer, Body = string> = (
  keyHash: Buffer,
  requests: readonly QueuedRequest<Answer, Body>[],
  isWanted: () => boolean,
) => Promise<void>;

/**
 * A queue with a bounded number of concurrent calls to the database. A call starts as soon as a place is free, with the waiting requests of one
 * key, in order. Organizations take turns, however many keys they have, and so do the keys of each. A request that is not answered in time is
 * refused, but its call keeps its place and memory until it ends, so that a database that hangs is not flooded.
 */
export class KeyedCallQueue<Answer, Body = string> {
  readonly #lines = new Map<string, Line<Answer, Body>>();
  readonly #calls = new Set<Call<Answer, Body>>();
  #waiting = 0;
  #overdueCalls = 0;

  constructor(
    private readonly options: KeyedCallQueueOptions,
    private readonly makeCall: MakeCall<Answer, Body>,
  ) {}

  /** Requests that wait for a call, and running calls. */
  get load(): CallQueueLoad {
    return { waiting: this.#waiting, calls: this.#calls.size };
  }

  /** Resolves with the request's answer. Rejects with QueueFullError, OverdueError, or the error of the call. */
  add({ organizationId, keyHash }: KeyHolder, body: Body, held: HeldBody | undefined): Promise<Answer> {
    const { waitingMax, concurrency, answerMsMax } = this.options;
    if (this.#overdueCalls === concurrency) return Promise.reject(new OverdueError());
    const line: Line<Answer, Body> = this.#lines.get(organizationId) ?? { length: 0, byKey: new Map() };
    if (this.#waiting >= waitingMax || line.length >= waitingMax / 2) {
      return Promise.reject(new QueueFullError());
    }
    return new Promise((resolve, reject) => {
      held?.keep();
      const key = keyHash.toString("hex");
      const timer = setTimeout(() => this.#refuseOverdue(organizationId, key, request), answerMsMax).unref();
      const request = { body, resolve, reject, held, timer };
      const ofKey = line.byKey.get(key);
      if (ofKey) ofKey.push(request);
      else line.byKey.set(key, [request]);
      this.#lines.set(organizationId, line);
      this.#count(line, 1);
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
      // A key or organization that has more to send goes to the end of the line.
      line.byKey.delete(key);
      if (ofKey.length > 0) line.byKey.set(key, ofKey);
      this.#lines.delete(organizationId);
      if (line.length > 0) this.#lines.set(organizationId, line);
      void this.#run({ organizationId, key, requests, overdue: false });
    }
  }

  /** The requests of the next key, of the next organization, that may have another call. */
  #next() {
    const { concurrencyOfOrganization, concurrencyOfKey } = this.options;
    const current = [...this.#calls].filter(({ overdue }) => !overdue);
    for (const [organizationId, line] of this.#lines) {
      const ofOrganization = current.filter((call) => call.organizationId === organizationId);
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
    for (const { held, timer } of call.requests) {
      clearTimeout(timer);
      held?.release();
    }
    this.#pump();
  }

  /** Requests of a key become overdue in the order in which they were added. For a request that is already answered, the rejection has no effect. */
  #refuseOverdue(organizationId: string, key: string, request: Waiting<Answer, Body>): void {
    request.reject(new OverdueError());
    const line = this.#lines.get(organizationId);
    const ofKey = line?.byKey.get(key);
    if (line && ofKey?.[0] === request) {
      ofKey.shift();
      this.#count(line, -1);
      request.held?.release();
      if (ofKey.length === 0) line.byKey.delete(key);
      if (line.length === 0) this.#lines.delete(organizationId);
      return;
    }
    const call = [...this.#calls].find(({ requests }) => requests.at(-1) === request);
    if (call === undefined) return; // later requests of its call are not overdue yet
    call.overdue = true;
    this.#overdueCalls += 1;
    this.#pump();
  }
}
