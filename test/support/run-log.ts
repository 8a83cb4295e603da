import { appendFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { destination, type Logger } from "pino";
import { inject } from "vitest";
import { createLogger } from "../../src/server/log.js";

let ours: Logger | undefined;

/** The log of the parts of the service that run in this process: the service's own, kept for the search at the end of the run. */
export function runLog(): Logger {
  ours ??= createLogger("trace", destination({ dest: path.join(inject("logs"), `${process.pid}.log`), sync: true }));
  return ours;
}

/** Keeps what a process of the service writes to its log for the search at the end of the run; shows what is worse than a warning. */
export function keepLog(output: Readable, name: string): void {
  const file = path.join(inject("logs"), `${name}-${process.pid}.log`);
  createInterface(output).on("line", (line) => {
    appendFileSync(file, `${line}\n`);
    if (!line.startsWith("{") || /^\{"level":"(error|fatal)"/.test(line)) process.stderr.write(`${line}\n`);
  });
}
