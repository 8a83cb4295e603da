import { once } from "node:events";

/** Waits for the work; rejects as it does, or with the signal's reason if that is aborted before. */
export async function orAbort(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const settled = new AbortController();
  try {
    await Promise.race([work, once(signal, "abort", { signal: settled.signal })]);
  } finally {
    settled.abort();
  }
  signal.throwIfAborted();
}
