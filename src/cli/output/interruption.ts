import { setImmediate } from "node:timers/promises";

import { cancelled } from "../core/errors.js";

/** The signals of Ctrl+C and of a request to end the process. */
const ENDINGS = ["SIGINT", "SIGTERM"] as const;
/** The same, and the signal of a closed terminal. */
const ALL_ENDINGS = [...ENDINGS, "SIGHUP"] as const;

/** Handles signals until the returned function is called; then they end the process again. */
function onSignals(names: readonly NodeJS.Signals[], handle: (name: NodeJS.Signals) => void): () => void {
  for (const name of names) process.on(name, handle);
  return () => {
    for (const name of names) process.off(name, handle);
  };
}

/**
 * Turns the first Ctrl+C, or SIGTERM, into an abort of `signal`; a second one ends the process at once, as the first does after `release`.
 * `caused` says whether a failure is due to the interruption: Ctrl+C also ends child processes, such as the compiler's, and their end may
 * be noticed before the signal.
 */
export function interruption(names: readonly NodeJS.Signals[] = ENDINGS) {
  const stop = new AbortController();
  const release = onSignals(names, () => {
    release();
    stop.abort();
  });
  const caused = async (): Promise<boolean> => {
    // The signal has arrived, but is only read when the event loop polls again: the first turn may end before that, the second cannot.
    for (let turn = 0; turn < 2 && !stop.signal.aborted; turn++) await setImmediate();
    return stop.signal.aborted;
  };
  return { signal: stop.signal, caused, release };
}

/** Runs something, and calls `onInterruption` with the failure if that is due to an interruption. */
export async function untilInterrupted<T>(
  run: (stop: AbortSignal) => Promise<T>,
  onInterruption: (error: unknown) => T,
  names?: readonly NodeJS.Signals[],
): Promise<T> {
  const { signal, caused, release } = interruption(names);
  try {
    return await run(signal);
  } catch (error) {
    if (await caused()) return onInterruption(error);
    throw error;
  } finally {
    release();
  }
}

/** Runs something that continues until it is interrupted, which is no failure. */
export function interruptible(run: (stop: AbortSignal) => Promise<void>): Promise<void> {
  return untilInterrupted(run, () => undefined);
}

/**
 * Runs something that changes nothing unless it completes. A closed terminal also interrupts it. @throws {UserError} CANCELLED if it was
 * interrupted
 */
export function cancellable<T>(run: (stop: AbortSignal) => Promise<T>): Promise<T> {
  const cancel = (error: unknown): never => {
    throw cancelled(error);
  };
  return untilInterrupted(run, cancel, ALL_ENDINGS);
}

/** Runs `tidy` when a signal arrives, before it ends the process; returns a function that removes the handler. */
export function onTermination(tidy: () => void): () => void {
  const release = onSignals(ALL_ENDINGS, (name) => {
    tidy();
    release();
    process.kill(process.pid, name);
  });
  return release;
}

/** Keeps signals from ending the process until the returned function is called. */
export function ignoreSignals(): () => void {
  return onSignals(ALL_ENDINGS, () => undefined);
}
