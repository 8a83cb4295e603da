import type { Sql } from "postgres";
import {
  ingestBatch,
  ingestSingles,
  type BatchAnswer,
  type IngestFailure,
  type SinglesAnswer,
} from "../../db/api/ingestion.js";
import { isBadValue } from "../../db/sqlstate.js";
import type { Bytes, JsonBody } from "../request/body.js";
import type { HeldBody } from "../request/body-budget.js";
import type { LargeBatches } from "./large-batches.js";
import { KeyedCallQueue, type CallQueueLoad, type QueuedRequest } from "./keyed-call-queue.js";
import { withRetries } from "./retry.js";

export interface SingleOutcome {
  limit: number;
  remaining: number;
  outcome: { eventId: string; duplicate: boolean } | IngestFailure;
  warning: IngestFailure | undefined;
}

/** Whose a batch is: the keys of an organization have their turn together. */
export interface BatchSender {
  keyHash: Buffer;
  organizationId: string;
}

interface Batch<Body> {
  keyHash: Buffer;
  body: Body;
}

export interface IngestorOptions {
  /** Calls with single events under way at once; one connection each. */
  concurrency: number;
  /** Single events that may wait in memory; past it they are refused. */
  waitingMax: number;
  /** Calls with batches under way at once, not counting large ones; 8 unless given. */
  batchConcurrency?: number;
  /** Of each size, batches that may wait in memory; 1,000 unless given. */
  batchesWaitingMax?: number;
  /** A request that the database has not answered after so long is refused; 35 s unless given, a little more than a statement may take. */
  answerMsMax?: number;
}

/**
 * Calls of one key write its usage, so they commit one after the other: while one is at work, those that arrive gather for the next, and a
 * larger call costs less an event. Several keys do not wait for one another.
 */
const SINGLE_CALLS_OF_KEY = 1;
/**
 * Of the calls with batches, those of one organization. With all eight, events of others took three times as long on two processors, and its own
 * batches came no faster.
 */
const BATCH_CALLS_OF_ORGANIZATION = 3;
/** Of the batches that may wait, those of one organization: it leaves room to others. */
const WAITING_SHARE_OF_ORGANIZATION = 0.5;
/** Calls with large batches under way at once: more than one thread can check meanwhile. */
export const LARGE_CALLS = 3;
/** Of one organization. */
export const LARGE_CALLS_OF_ORGANIZATION = 2;
/** Positions in a call are ten bits of an event's number; calls stay below for short transactions. */
const CALL_SINGLES_MAX = 500;

/**
 * Passes operations to the database. Single events of one key that arrive together share one call: a call goes out as soon as a place is
 * free and takes what waits by then, so nothing waits for company. Each keeps its own outcome. A batch is a call of its own; large ones wait
 * for one another only.
 */
export class Ingestor {
  readonly #singles: KeyedCallQueue<SingleOutcome>;
  readonly #batches: KeyedCallQueue<BatchAnswer, Batch<string>>;
  readonly #largeBatches: KeyedCallQueue<BatchAnswer, Batch<Bytes>>;

  constructor(sql: Sql, large: LargeBatches, options: IngestorOptions) {
    const { concurrency, waitingMax, batchConcurrency = 8, batchesWaitingMax = 1_000, answerMsMax = 35_000 } = options;
    this.#singles = new KeyedCallQueue(
      {
        concurrency,
        concurrencyOfKey: SINGLE_CALLS_OF_KEY,
        waitingMax,
        waitingOfKeyMax: waitingMax,
        callMax: CALL_SINGLES_MAX,
        answerMsMax,
      },
      (key, requests, isWanted) => sendSingles(sql, Buffer.from(key, "hex"), requests, isWanted),
    );
    const waitingOfKeyMax = Math.ceil(batchesWaitingMax * WAITING_SHARE_OF_ORGANIZATION);
    const one = { waitingMax: batchesWaitingMax, waitingOfKeyMax, callMax: 1, answerMsMax };
    this.#batches = new KeyedCallQueue(
      { ...one, concurrency: batchConcurrency, concurrencyOfKey: BATCH_CALLS_OF_ORGANIZATION },
      async (_, [request], isWanted) => {
        const { keyHash, body } = request!.body;
        request!.resolve(await withRetries((call) => ingestBatch(sql, { keyHash, ...call }, body), isWanted));
      },
    );
    this.#largeBatches = new KeyedCallQueue(
      { ...one, concurrency: LARGE_CALLS, concurrencyOfKey: LARGE_CALLS_OF_ORGANIZATION },
      async (_, [request], isWanted) => {
        const { keyHash, body } = request!.body;
        request!.resolve(await large.send(keyHash, body, isWanted));
      },
    );
  }

  /** How busy it is. */
  get load(): Readonly<Record<"single" | "batch", CallQueueLoad>> {
    const [batch, large] = [this.#batches.load, this.#largeBatches.load];
    return {
      single: this.#singles.load,
      batch: { waiting: batch.waiting + large.waiting, calls: batch.calls + large.calls },
    };
  }

  /** `held` is what the body takes of the memory: it is given back when the database has done with it. */
  batch({ keyHash, organizationId }: BatchSender, body: JsonBody, held?: HeldBody): Promise<BatchAnswer> {
    if (typeof body === "string") return this.#batches.add(organizationId, { keyHash, body }, held);
    return this.#largeBatches.add(organizationId, { keyHash, body }, held);
  }

  single(keyHash: Buffer, body: string, held?: HeldBody): Promise<SingleOutcome> {
    return this.#singles.add(keyHash.toString("hex"), body, held);
  }
}

type Requests = readonly QueuedRequest<SingleOutcome>[];

async function sendSingles(sql: Sql, keyHash: Buffer, requests: Requests, isWanted: () => boolean): Promise<void> {
  try {
    const bodies = requests.map(({ body }) => body);
    const answer = await withRetries((call) => ingestSingles(sql, { keyHash, ...call }, bodies), isWanted);
    requests.forEach((request, index) => request.resolve(outcomeAt(answer, index)));
  } catch (error) {
    if (requests.length > 1 && isWanted() && isBadValue(error)) {
      // One of them is at fault; halved until it is alone, it fails alone.
      const middle = requests.length >> 1;
      await sendSingles(sql, keyHash, requests.slice(0, middle), isWanted);
      await sendSingles(sql, keyHash, requests.slice(middle), isWanted);
    } else {
      for (const request of requests) request.reject(error);
    }
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
