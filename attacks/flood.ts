/** Sends requests repeatedly. */
import { setTimeout as delay } from "node:timers/promises";

/** Prevents a busy loop if the service refuses requests or is down. */
const PAUSE_MS = 5;

/** Sends `lanes` requests at a time, the next one as soon as one is done, until the signal is aborted; at most `count` in total. */
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

/** Waits; ends early if the signal is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}

/** Waits until it is so, asking again after each pause, or until the signal is aborted. */
export async function until(isSo: () => Promise<boolean>, pauseMs: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && !(await isSo())) await pause(pauseMs, signal);
}

/** Waits until the signal is aborted. */
export async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
