/** Sends a history as a product would: with the client for Node.js. */
import { type ClientError, createClient, type SentOperation } from "../client/index.js";
import { DemoFailure } from "./failure.js";

export interface SendOptions {
  url: string;
  apiKey: string;
  /** How many clients send at once; 4 unless given. */
  senders?: number | undefined;
  /** Stops sending; the promise is rejected with the signal's reason. */
  signal?: AbortSignal;
  onProgress?: (operations: number) => void;
}

export interface Sent {
  /** The track operations. */
  events: number;
  retries: number;
}

/** Reads little ahead, reconnects soon after a killed service is back, and sends only full batches, however long reading takes. */
const PACE = { queueOperations: 2_000, retryFirstMs: 100, retryLongestMs: 2_000, flushIntervalMs: 3_600_000 };
/** Gives up if the service accepts nothing for this long. */
const STALLED_MS = 180_000;

/** Sends all operations, each customer's in order, and resolves once the service has them. Rejects with a DemoFailure if it refuses one. */
export async function sendAll(
  operations: Iterable<SentOperation> | AsyncIterable<SentOperation>,
  { url, apiKey, senders = 4, signal, onProgress }: SendOptions,
): Promise<Sent> {
  const stop = new AbortController();
  const ended = AbortSignal.any([stop.signal, ...(signal === undefined ? [] : [signal])]);
  ended.throwIfAborted();
  const onError = (error: ClientError) => stop.abort(refusal(error));
  let accepted = 0;
  let movedAt = performance.now();
  const onRetry = ({ message }: ClientError) => {
    if (sum("accepted") > accepted) [accepted, movedAt] = [sum("accepted"), performance.now()];
    if (performance.now() - movedAt > STALLED_MS)
      stop.abort(new DemoFailure(`the service has accepted nothing for ${STALLED_MS / 1_000} s: ${message}`));
  };
  const options = { url, apiKey, ...PACE, onError, onRetry };
  // A client sends one batch at a time.
  const clients = Array.from({ length: senders }, () => createClient(options));
  const close = () => Promise.all(clients.map((client) => client.close({ timeoutMs: 0 })));
  // Closing rejects the waiting calls of the clients.
  ended.addEventListener("abort", () => void close(), { once: true });
  const sum = (name: "accepted" | "retries") => clients.reduce((all, { stats }) => all + stats[name], 0);
  let events = 0;
  try {
    for await (const operation of operations) {
      const client = clients[partitionOf(operation.customerId, senders)]!;
      await client.ready();
      if (operation.type === "identify") client.identify(operation);
      else if (client.track(operation)) events++;
      onProgress?.(sum("accepted"));
    }
    await Promise.all(clients.map((client) => client.flush()));
    ended.throwIfAborted();
    onProgress?.(sum("accepted"));
    return { events, retries: sum("retries") };
  } catch (error) {
    throw ended.aborted ? ended.reason : error;
  } finally {
    await close();
  }
}

/** FNV-1a of the id: the same customer always takes the same partition. */
export function partitionOf(customerId: string, partitions: number): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < customerId.length; index++)
    hash = Math.imul(hash ^ customerId.charCodeAt(index), 0x01000193);
  return (hash >>> 0) % partitions;
}

function refusal({ operation, status, code, message }: ClientError): DemoFailure {
  const key = operation?.type === "track" ? `"${operation.idempotencyKey}"` : "traits";
  const where = operation === null ? "" : ` ${key} of the customer "${operation.customerId}"`;
  return new DemoFailure(`the service refused${where}: ${status} ${code} ${message}`);
}
