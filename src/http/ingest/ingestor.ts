import type { Sql } from "postgres";
import { call } from "../../db/api/call.js";
import { type BatchAnswer, ingestBatch, ingestSingles, type SingleOutcome } from "../../db/api/ingestion.js";
import type { TrackingModel } from "../../model/tracking.js";
import { isBadValue } from "../../db/sqlstate.js";
import type { Bytes, JsonBody } from "../request/body.js";
import type { HeldBody } from "../request/body-budget.js";
import { ComputeThread } from "../compute/compute-thread.js";
import { withTimeout } from "../errors.js";
import type { BatchDatabase } from "./send-batch.js";
import { KeyedCallQueue, type CallQueueLoad, type KeyHolder, type QueuedRequest } from "./keyed-call-queue.js";
import { withRetries } from "./retries.js";

export interface IngestorOptions {
  /** Concurrent calls with single events; each uses one connection. */
  concurrency: number;
  /** Single events that may wait in memory; further ones are refused. */
  waitingMax: number;
  /** Concurrent calls with batches, not counting large ones; 8 by default. */
  batchConcurrency?: number;
  /** Ordinary batches that may wait in memory, and as many large ones; 1,000 by default. */
  batchesWaitingMax?: number;
  /** A request that the database has not answered after this time is refused; by default 35 s, a little more than a statement may take. */
  answerMsMax?: number;
}

/**
 * Concurrent calls with single events of one key. They update the key's usage, so they would commit one after the other anyway: events that arrive
 * during a call are collected for the next, and a larger call costs less per event. Different keys do not wait for one another.
 */
const SINGLE_CALLS_OF_KEY = 1;
/** Concurrent calls with single events of one organization. */
const SINGLE_CALLS_OF_ORGANIZATION = 3;
/**
 * Concurrent calls with batches of one organization. If it used all eight, events of others took three times as long on two processors, and its
 * own batches were no faster.
 */
const BATCH_CALLS_OF_ORGANIZATION = 3;
/** Concurrent calls with large batches: more than one thread can check in the same time. */
export const LARGE_CALLS = 3;
/** Concurrent calls with large batches of one organization. */
export const LARGE_CALLS_OF_ORGANIZATION = 2;
const MODELS_MAX = 1_000;
const MODEL_MS_MAX = 5_000;
/** Positions in a call are ten bits of an event's number; calls stay below for short transactions. */
const CALL_SINGLES_MAX = 500;

/**
 * Passes operations to the database. Single events of one key share calls: a call starts as soon as a place is free and takes all events that
 * wait at that moment, so no event waits for others to arrive. Each event has its own outcome. A batch is a separate call; large batches have a
 * queue of their own.
 */
export class Ingestor {
  readonly #singles: KeyedCallQueue<SingleOutcome>;
  readonly #batches: KeyedCallQueue<BatchAnswer>;
  readonly #largeBatches: KeyedCallQueue<BatchAnswer, Bytes>;

  /**
   * Sends large batches on separate connections: the driver copies a statement four times synchronously, which would block the event loop. The
   * event loop only transfers the bytes.
   */
  readonly #thread = new ComputeThread();
  /** Tracking models by the hash of the key. */
  readonly #models = new Map<string, TrackingModel & { version: number | null }>();

  /** @param large the database to which the thread sends large batches */
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

  /** The current load of single events and of batches of any size. */
  get load(): Readonly<Record<"single" | "batch", CallQueueLoad>> {
    const [batch, large] = [this.#batches.load, this.#largeBatches.load];
    return {
      single: this.#singles.load,
      batch: { waiting: batch.waiting + large.waiting, calls: batch.calls + large.calls },
    };
  }

  /** `held` is the body's part of the memory budget, which is released when the database has processed it. */
  batch(holder: KeyHolder, body: JsonBody, held?: HeldBody): Promise<BatchAnswer> {
    if (typeof body === "string") return this.#batches.add(holder, body, held);
    return this.#largeBatches.add(holder, body, held);
  }

  single(holder: KeyHolder, body: string, held?: HeldBody): Promise<SingleOutcome> {
    return this.#singles.add(holder, body, held);
  }

  /**
   * How the active version of a key's environment maps calls of the tracking API, and the database's time (ms). Each request checks the version; the
   * model is read only if the version has changed.
   */
  async trackingModel(keyHash: Buffer): Promise<{ model: TrackingModel; now: number }> {
    const name = keyHash.toString("hex");
    const cached = this.#models.get(name);
    const read = call(this.sql, "get_tracking_model", keyHash, cached?.version ?? null);
    const { now, ...current } = await withTimeout(MODEL_MS_MAX, read);
    if (cached && current.customer === undefined) return { model: cached, now };
    if (this.#models.size >= MODELS_MAX) this.#models.clear();
    const model = current as TrackingModel & { version: number | null };
    this.#models.set(name, model);
    return { model, now };
  }

  /** Ends the thread and its connections, even during calls. */
  end(): Promise<void> {
    return this.#thread.end();
  }

  /** Transfers the bytes to the thread: they can no longer be read here. */
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
      // One of them is the cause: the call is halved until that one fails alone.
      const middle = requests.length >> 1;
      await sendSingles(sql, keyHash, requests.slice(0, middle), isWanted);
      await sendSingles(sql, keyHash, requests.slice(middle), isWanted);
    } else for (const request of requests) request.reject(error);
  }
}
