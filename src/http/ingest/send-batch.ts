import type { Sql } from "postgres";
import { ingestBatch, type BatchAnswer } from "../../db/api/ingestion.js";
import { connect, type ConnectOptions } from "../../db/connect.js";
import type { Bytes } from "../request/body.js";
import { decodeJson } from "../request/parse-json.js";
import { withRetries } from "./retry.js";

/** Where a thread sends batches: what `connect` takes, as far as it can be told to a thread. */
export interface BatchDatabase {
  url: string;
  options: Omit<ConnectOptions, "sockets" | "onNotice">;
}

export interface SendJob {
  database: BatchDatabase;
  keyHash: Uint8Array;
  /** Of a batch that was checked. */
  pieces: Bytes;
}

/** Of the thread, which sends to one database. */
let sql: Sql | undefined;

/** Passes a batch to the database; asks `isWanted` before it does so again. Throws what `ingestBatch` throws. */
export function sendBatch(
  { database, keyHash, pieces }: SendJob,
  ask: (question: "isWanted", input: null) => Promise<unknown>,
): Promise<BatchAnswer> {
  const pool = (sql ??= connect(database.url, database.options));
  const text = decodeJson(pieces);
  return withRetries(
    (call) => ingestBatch(pool, { keyHash: Buffer.from(keyHash), ...call }, text),
    async () => (await ask("isWanted", null)) === true,
  );
}
