import { expect } from "vitest";

import type { Result, RunOptions } from "./run-svc.js";

/** A command that is under way in this process. */
export interface Running {
  result: Promise<Result>;
  /** Waits until it has said this on standard error. */
  says(text: string): Promise<void>;
  /** Waits until it has printed this on standard output. */
  prints(text: string): Promise<void>;
  /** What Ctrl+C does. */
  interrupt(): void;
}

/** Starts a command that goes on until it is ended. */
export function running(start: (options: RunOptions) => Promise<Result>): Running {
  let said = "";
  let printed = "";
  const result = start({ onStderr: (text) => (said = text), onStdout: (text) => (printed = text) });
  const until = (read: () => string) => async (text: string) => {
    await expect.poll(read, { timeout: 10_000, interval: 10 }).toContain(text);
  };
  return {
    result,
    says: until(() => said),
    prints: until(() => printed),
    interrupt: () => {
      process.emit("SIGINT");
    },
  };
}
