import type { BatchAnswer } from "../../db/api/ingestion.js";
import type { Bytes } from "../request/body.js";
import { ComputeThread } from "../compute/compute-thread.js";
import type { BatchDatabase } from "./send-batch.js";

/**
 * Passes large batches to the database, from a thread with connections of its own: the driver copies what it sends four times, all at once, for
 * which the event loop would stand still. The event loop only hands the bytes over.
 */
export class LargeBatches {
  readonly #thread = new ComputeThread();

  constructor(private readonly database: BatchDatabase) {}

  /** Sends a batch that was checked; its bytes are the thread's then. Throws what `ingestBatch` throws. */
  send(keyHash: Buffer, pieces: Bytes, isWanted: () => boolean): Promise<BatchAnswer> {
    return this.#thread.run(
      "sendBatch",
      { database: this.database, keyHash, pieces },
      { transfer: pieces.map(({ buffer }) => buffer), answers: { isWanted: () => Promise.resolve(isWanted()) } },
    );
  }

  /** Ends the thread and its connections, whatever is under way. */
  end(): Promise<void> {
    return this.#thread.end();
  }
}
