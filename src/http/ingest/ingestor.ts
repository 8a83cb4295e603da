import type { Sql } from "postgres";
import {
  type BatchAnswer,
  getTrackingModel,
  ingestBatch,
  ingestSingles,
  type SingleOutcome,
  withRetries,
} from "../../db/api/ingestion.js";
import type { TrackingModel } from "../../model/tracking.js";
import { isBadValue } from "../../db/sqlstate.js";
import type { Bytes, JsonBody } from "../request/body.js";
import type { HeldBody } from "../request/body-budget.js";
import { ComputeThread } from "../compute/compute-thread.js";
import { within } from "../errors.js";
import type { BatchDatabase } from "./send-batch.js";
import { KeyedCallQueue, type CallQueueLoad, type KeyHolder, type QueuedRequest } from "./keyed-call-queue.js";

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
/** Of the calls with single events, those of one organization. */
const SINGLE_CALLS_OF_ORGANIZATION = 3;
/**
 * Of the calls with batches, those of one organization. With all eight, events of others took three times as long on two processors, and its own
 * batches came no faster.
 */
const BATCH_CALLS_OF_ORGANIZATION = 3;
/** Calls with large batches under way at once: more than one thread can check meanwhile. */
export const LARGE_CALLS = 3;
/** Of one organization. */
export const LARGE_CALLS_OF_ORGANIZATION = 2;
const MODELS_MAX = 1_000;
const MODEL_MS_MAX = 5_000;
/** Positions in a call are ten bits of an event's number; calls stay below for short transactions. */
const CALL_SINGLES_MAX = 500;

/**
 * Passes operations to the database. Single events of one key that arrive together share one call: a call goes out as soon as a place is
 * free and takes what waits by then, so nothing waits for company. Each keeps its own outcome. A batch is a call of its own; large ones wait
 * for one another only.
 */
export class Ingestor {
  readonly #singles: KeyedCallQueue<SingleOutcome>;
  readonly #batches: KeyedCallQueue<BatchAnswer>;
  readonly #largeBatches: KeyedCallQueue<BatchAnswer, Bytes>;

  /**
   * Sends large batches, on connections of its own: the driver copies what it sends four times, all at once, for which the event loop would
   * stand still. The event loop only hands the bytes over.
   */
  readonly #thread = new ComputeThread();
  /** By the hash of the key. */
  readonly #models = new Map<string, TrackingModel & { version: number | null }>();

  /** @param large where the thread sends them */
  constructor(
    private readonly sql: Sql,
    private readonly large: BatchDatabase,
    options: IngestorOptions,
  ) {
    const { concurrency, waitingMax, batchConcurrency = 8, batchesWaitingMax = 1_000, answerMsMax = 35_000 } = options;
    this.#singles = new KeyedCallQueue(
      {
        concurrency,
        concurrencyOfOrganization: SINGLE_CALLS_OF_ORGANIZATION,
        concurrencyOfKey: SINGLE_CALLS_OF_KEY,
        waitingMax,
        callMax: CALL_SINGLES_MAX,
        answerMsMax,
      },
      (keyHash, requests, isWanted) => sendSingles(sql, keyHash, requests, isWanted),
    );
    const batches = (concurrency: number, callsOfOrganization: number) => ({
      concurrency,
      concurrencyOfOrganization: callsOfOrganization,
      concurrencyOfKey: callsOfOrganization,
      waitingMax: batchesWaitingMax,
      callMax: 1,
      answerMsMax,
    });
    this.#batches = new KeyedCallQueue(
      batches(batchConcurrency, BATCH_CALLS_OF_ORGANIZATION),
      async (keyHash, [request], isWanted) => {
        const { body } = request!;
        request!.resolve(await withRetries((call) => ingestBatch(sql, { keyHash, ...call }, body), isWanted));
      },
    );
    this.#largeBatches = new KeyedCallQueue(
      batches(LARGE_CALLS, LARGE_CALLS_OF_ORGANIZATION),
      async (keyHash, [request], isWanted) => request!.resolve(await this.#sendLarge(keyHash, request!.body, isWanted)),
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
  batch(holder: KeyHolder, body: JsonBody, held?: HeldBody): Promise<BatchAnswer> {
    if (typeof body === "string") return this.#batches.add(holder, body, held);
    return this.#largeBatches.add(holder, body, held);
  }

  single(holder: KeyHolder, body: string, held?: HeldBody): Promise<SingleOutcome> {
    return this.#singles.add(holder, body, held);
  }

  /**
   * How the active version of a key's environment maps calls of the tracking API: asked for with each request, and read where it is another
   * version than the last time.
   */
  async trackingModel(keyHash: Buffer): Promise<TrackingModel> {
    const name = keyHash.toString("hex");
    const known = this.#models.get(name);
    const found = await within(MODEL_MS_MAX, getTrackingModel(this.sql, keyHash, known?.version ?? null));
    if (known && found.customer === undefined) return known;
    if (this.#models.size >= MODELS_MAX) this.#models.clear();
    const model = found as TrackingModel & { version: number | null };
    this.#models.set(name, model);
    return model;
  }

  /** Ends the thread and its connections, whatever is under way. */
  end(): Promise<void> {
    return this.#thread.end();
  }

  /** The bytes are the thread's then. */
  #sendLarge(keyHash: Buffer, pieces: Bytes, isWanted: () => boolean): Promise<BatchAnswer> {
    return this.#thread.run(
      "sendBatch",
      { database: this.large, keyHash, pieces },
      { transfer: pieces.map(({ buffer }) => buffer), answers: { isWanted: () => Promise.resolve(isWanted()) } },
    );
  }
}

type Requests = readonly QueuedRequest<SingleOutcome>[];

async function sendSingles(sql: Sql, keyHash: Buffer, requests: Requests, isWanted: () => boolean): Promise<void> {
  try {
    const bodies = requests.map(({ body }) => body);
    const outcomes = await withRetries((call) => ingestSingles(sql, { keyHash, ...call }, bodies), isWanted);
    requests.forEach((request, index) => request.resolve(outcomes[index]!));
  } catch (error) {
    if (requests.length > 1 && isWanted() && isBadValue(error)) {
      // One of them is at fault; halved until it is alone, it fails alone.
      const middle = requests.length >> 1;
      await sendSingles(sql, keyHash, requests.slice(0, middle), isWanted);
      await sendSingles(sql, keyHash, requests.slice(middle), isWanted);
    } else for (const request of requests) request.reject(error);
  }
}
