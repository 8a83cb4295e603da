import type { Sql } from "postgres";
import { ingestBatch, type BatchAnswer } from "../../db/api/ingestion.js";
import { connect, type ConnectOptions } from "../../db/connect.js";
import { batchRequestProblem, SINGLE_BYTES_MAX, tooManyOperations } from "../../ingestion/request.js";
import { BATCH_MAX, DOCUMENT_BYTES_MAX } from "../../ingestion/shape.js";
import { throwProblem } from "../errors.js";
import type { Bytes } from "../request/body.js";
import { countJson, type JsonLimits } from "../request/json-limits.js";
import { decodeText, PARSER_LIMITS, parseChecked, limitRefusal } from "../request/parse-json.js";
import { withRetries } from "./retries.js";

/** Limits that no acceptable batch exceeds. */
const LIMITS: JsonLimits = {
  ...PARSER_LIMITS,
  // The database keeps a number in 12 bytes at least, and 256 MiB of one body.
  valuesMax: 22_000_000,
  membersMax: 100,
  itemsMax: BATCH_MAX,
  // A value takes at least one byte; the characters include the caller's escapes and white space.
  part: { depth: 3, valuesMax: DOCUMENT_BYTES_MAX, charactersMax: SINGLE_BYTES_MAX },
};

/** Validates a batch that is too large for the event loop, and returns its bytes. Throws an ApiError if it is not valid. */
export function checkBatch(pieces: Bytes): Bytes {
  const text = decodeText(pieces);
  const unparsable = countJson(text, PARSER_LIMITS).exceeded;
  if (unparsable !== null) throw limitRefusal(unparsable, PARSER_LIMITS);
  const { exceeded } = countJson(text, LIMITS);
  if (exceeded?.limit === "itemsMax" && exceeded.path === "events") throwProblem(tooManyOperations());
  if (exceeded !== null) throw limitRefusal(exceeded, LIMITS);
  throwProblem(batchRequestProblem(parseChecked(text), text));
  return pieces;
}

/** The database to which a thread sends batches: the arguments of `connect` that can be passed to a thread. */
export interface BatchDatabase {
  url: string;
  options: Omit<ConnectOptions, "sockets" | "onNotice">;
}

export interface SendJob {
  database: BatchDatabase;
  keyHash: Uint8Array;
  /** The bytes of a validated batch. */
  pieces: Bytes;
}

/** The connections of this thread, which sends to one database only. */
let sql: Sql | undefined;

/** Passes a batch to the database; asks `isWanted` before each retry. Throws what `ingestBatch` throws. */
export function sendBatch(
  { database, keyHash, pieces }: SendJob,
  ask: (question: "isWanted", input: null) => Promise<unknown>,
): Promise<BatchAnswer> {
  const pool = (sql ??= connect(database.url, database.options));
  const text = decodeText(pieces);
  return withRetries(
    (call) => ingestBatch(pool, { keyHash: Buffer.from(keyHash), ...call }, text),
    async () => (await ask("isWanted", null)) === true,
  );
}
