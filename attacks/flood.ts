/** How requests are sent again and again. */
import { setTimeout as delay } from "node:timers/promises";

/** A service that refuses or is gone must not make the flood a busy loop. */
const PAUSE_MS = 5;

/** So many at once, each again as soon as it is done, until the signal is aborted; `count` of them at most. */
export async function flood(
  { lanes, count = Infinity, signal }: { lanes: number; count?: number; signal: AbortSignal },
  send: (index: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (!signal.aborted && next < count) {
      await send(next++);
      await pause(PAUSE_MS, signal);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

/** Ends early where the signal is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}

/** Until the signal is aborted. */
export async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
