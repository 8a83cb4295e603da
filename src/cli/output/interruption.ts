import { setImmediate } from "node:timers/promises";

import { cancelled } from "../core/errors.js";

/** What Ctrl+C and whoever ends a process send. */
const ENDINGS = ["SIGINT", "SIGTERM"] as const;
/** These, and what the end of a terminal sends. */
const ALL_ENDINGS = [...ENDINGS, "SIGHUP"] as const;

/** Handles signals until what it returns is called: then they end the process again. */
function onSignals(names: readonly NodeJS.Signals[], handle: (name: NodeJS.Signals) => void): () => void {
  for (const name of names) process.on(name, handle);
  return () => {
    for (const name of names) process.off(name, handle);
  };
}

/**
 * Turns the first Ctrl+C, or SIGTERM, into an abort of `signal`; a second one ends the process at once, as the first does after `release`.
 * `caused` tells whether a failure came of it: Ctrl+C ends children, such as the compiler's, as well, and their end may be seen first.
 */
export function interruption(names: readonly NodeJS.Signals[] = ENDINGS) {
  const stop = new AbortController();
  const release = onSignals(names, () => {
    release();
    stop.abort();
  });
  const caused = async (): Promise<boolean> => {
    // The signal is there already, but is read only when the event loop waits again: the first turn may end before that, the second not.
    for (let turn = 0; turn < 2 && !stop.signal.aborted; turn++) await setImmediate();
    return stop.signal.aborted;
  };
  return { signal: stop.signal, caused, release };
}

/** Does something that goes on until it is interrupted, which is no failure. */
export async function interruptible(run: (stop: AbortSignal) => Promise<void>): Promise<void> {
  const { signal, caused, release } = interruption();
  try {
    await run(signal);
  } catch (error) {
    // Whatever was under way failed because it was ended.
    if (!(await caused())) throw error;
  } finally {
    release();
  }
}

/** Does something that changes nothing unless it comes to its end. The terminal's end interrupts it, too. @throws {UserError} CANCELLED where it was */
export async function cancellable<T>(run: (stop: AbortSignal) => Promise<T>): Promise<T> {
  const { signal, caused, release } = interruption(ALL_ENDINGS);
  try {
    return await run(signal);
  } catch (error) {
    throw (await caused()) ? cancelled(error) : error;
  } finally {
    release();
  }
}

/** Does something at once before a signal ends the process, which it does all the same; returns what takes that back. */
export function beforeEnd(tidy: () => void): () => void {
  const release = onSignals(ALL_ENDINGS, (name) => {
    tidy();
    release();
    process.kill(process.pid, name);
  });
  return release;
}

/** Keeps signals from ending the process, until what it returns is called. */
export function noEnd(): () => void {
  return onSignals(ALL_ENDINGS, () => undefined);
}
