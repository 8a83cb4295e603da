import { stacksOf } from "./log-error.js";
import { createLogger } from "./log.js";

/**
 * Has an error that nobody handled written to the log, without what it quotes of data as any other, and ends the process with code 1. Node.js
 * would print all that the error has, PostgreSQL's DETAIL with a customer's row among it. Written at every LOG_LEVEL.
 */
export function logCrashes(): void {
  const end = (thrown: unknown) => {
    const err = thrown instanceof Error ? thrown : new Error(stacksOf(thrown));
    createLogger("fatal").fatal({ err }, "the process ends by an error that nobody handled");
    process.exit(1);
  };
  process.on("uncaughtException", end);
  process.on("unhandledRejection", end);
}
