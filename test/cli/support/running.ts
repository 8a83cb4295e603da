import { expect } from "vitest";

import type { Result, RunOptions } from "./run-svc.js";

/** A command that is running in this process. */
export interface Running {
  result: Promise<Result>;
  /** Waits until it has printed this to standard error. */
  says(text: string): Promise<void>;
  /** Waits until it has printed this to standard output. */
  prints(text: string): Promise<void>;
  /** Acts like Ctrl+C. */
  interrupt(): void;
}

/** Starts a command that runs until it is interrupted. */
export function running(start: (options: RunOptions) => Promise<Result>): Running {
  let stderr = "";
  let stdout = "";
  const result = start({ onStderr: (text) => (stderr = text), onStdout: (text) => (stdout = text) });
  const until = (read: () => string) => async (text: string) => {
    await expect.poll(read, { timeout: 10_000, interval: 10 }).toContain(text);
  };
  return {
    result,
    says: until(() => stderr),
    prints: until(() => stdout),
    interrupt: () => {
      process.emit("SIGINT");
    },
  };
}
