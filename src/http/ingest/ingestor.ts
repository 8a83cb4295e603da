import type { Sql } from "postgres";
import {
  ingestBatch,
  ingestSingles,
  type BatchAnswer,
  type IngestFailure,
  type SinglesAnswer,
} from "../../db/calls-ingest.js";
import { withRetries } from "./retry.js";

export interface SingleOutcome {
  limit: number;
  remaining: number;
  outcome: { eventId: string; duplicate: boolean } | IngestFailure;
  warning: IngestFailure | undefined;
}

/** The queue in memory is full: the request was not taken and may be sent again. */
export class QueueFullError extends Error {}

interface Waiting {
  body: string;
  resolve: (outcome: SingleOutcome) => void;
  reject: (error: unknown) => void;
}

export interface IngestorOptions {
  /** Calls with single events under way at once; one connection each. */
  concurrency: number;
  /** Single events that may wait in memory; past it they are refused. */
  waitingMax: number;
}

/** Positions in a call are ten bits of an event's number; calls stay below for short transactions. */
const CALL_SINGLES_MAX = 500;

/**
 * Passes operations to the database. Single events of one key that arrive together share one call: a call goes out as soon as one of
 * `concurrency` is free and takes what waits by then, so nothing waits for company. Each keeps its own outcome.
 */
export class Ingestor {
  readonly #queues = new Map<string, Waiting[]>();
  #waiting = 0;
  #running = 0;

  constructor(
    private readonly sql: Sql,
    private readonly options: IngestorOptions,
  ) {}

  batch(keyHash: Buffer, body: string): Promise<BatchAnswer> {
    return withRetries((call) => ingestBatch(this.sql, { keyHash, ...call }, body));
  }

  single(keyHash: Buffer, body: string): Promise<SingleOutcome> {
    if (this.#waiting >= this.options.waitingMax) return Promise.reject(new QueueFullError());
    return new Promise((resolve, reject) => {
      const key = keyHash.toString("hex");
      const queue = this.#queues.get(key);
      if (queue) queue.push({ body, resolve, reject });
      else this.#queues.set(key, [{ body, resolve, reject }]);
      this.#waiting += 1;
      this.#pump();
    });
  }

  /** Sends calls while one is free; keys take turns. */
  #pump(): void {
    while (this.#running < this.options.concurrency) {
      const [next] = this.#queues;
      if (next === undefined) return;
      const [key, queue] = next;
      const taken = queue.splice(0, CALL_SINGLES_MAX);
      // A key with more to send goes to the end of the line.
      this.#queues.delete(key);
      if (queue.length > 0) this.#queues.set(key, queue);
      this.#waiting -= taken.length;
      this.#running += 1;
      void this.#send(Buffer.from(key, "hex"), taken).finally(() => {
        this.#running -= 1;
        this.#pump();
      });
    }
  }

  async #send(keyHash: Buffer, taken: Waiting[]): Promise<void> {
    try {
      const answer = await this.#call(keyHash, taken);
      taken.forEach((waiting, index) => waiting.resolve(outcomeAt(answer, index)));
    } catch (error) {
      if (taken.length > 1 && isRefusedAsAWhole(error)) {
        // One of them is at fault; halved until it is alone, it fails alone.
        const middle = taken.length >> 1;
        await this.#send(keyHash, taken.slice(0, middle));
        await this.#send(keyHash, taken.slice(middle));
      } else {
        for (const waiting of taken) waiting.reject(error);
      }
    }
  }

  #call(keyHash: Buffer, taken: Waiting[]): Promise<SinglesAnswer> {
    const bodies = taken.map((waiting) => waiting.body);
    return withRetries((call) => ingestSingles(this.sql, { keyHash, ...call }, bodies));
  }
}

function outcomeAt(answer: SinglesAnswer, index: number): SingleOutcome {
  const outcome = answer.outcomes[index];
  if (outcome === undefined) throw new Error("the database answered fewer outcomes than events");
  return {
    limit: answer.limit,
    remaining: answer.remaining,
    outcome: Array.isArray(outcome) ? { eventId: outcome[0], duplicate: outcome[1] } : outcome,
    warning: answer.warnings[index],
  };
}

/** Data exceptions and program limits concern the call's data, not the database's health. */
function isRefusedAsAWhole(error: unknown): boolean {
  return /^(22|54)/.test((error as { code?: string }).code ?? "");
}
