import { appendFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { destination, type Logger } from "pino";
import { inject } from "vitest";
import { createLogger } from "../../src/server/log.js";

let logger: Logger | undefined;

/** The log of the parts of the service that run in this process, kept for the search for secrets at the end of the run. */
export function runLog(): Logger {
  logger ??= createLogger("trace", destination({ dest: path.join(inject("logs"), `${process.pid}.log`), sync: true }));
  return logger;
}

/** Keeps the log of a service process for the search for secrets at the end of the run; shows lines that are errors or not JSON. */
export function keepLog(output: Readable, name: string): void {
  const file = path.join(inject("logs"), `${name}-${process.pid}.log`);
  createInterface(output).on("line", (line) => {
    appendFileSync(file, `${line}\n`);
    if (!line.startsWith("{") || /^\{"level":"(error|fatal)"/.test(line)) process.stderr.write(`${line}\n`);
  });
}
