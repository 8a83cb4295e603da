import { PassThrough } from "node:stream";

import type { Io } from "../../../src/cli/io.js";
import { run } from "../../../src/cli/run.js";

export interface RunOptions {
  env?: Record<string, string>;
  cwd?: string;
  /** What is on standard input; it ends after that. */
  input?: string;
  /** Whether all three streams are a terminal; its width is 80 unless given. On one, `input` is what is typed. */
  terminal?: boolean;
  columns?: number;
  /** Is told all that was printed to standard error, whenever there is more. */
  onStderr?: (text: string) => void;
}

export interface Result {
  code: number;
  stdout: string;
  stderr: string;
}

/** The instant at which tests run commands. */
const NOW = Date.parse("2026-03-14T10:00:00Z");

/** Runs a command line in this process and returns all that it printed. Ids of requests, random by nature, are replaced. */
export async function svc(argv: readonly string[], options: RunOptions = {}): Promise<Result> {
  const { env = {}, cwd = import.meta.dirname, input = "", terminal = false, columns = 80, onStderr } = options;
  const stdin = new PassThrough();
  const [stdout, readOut] = collector();
  const [stderr, readErr] = collector();
  stderr.on("data", () => onStderr?.(readErr()));
  const tty = terminal ? { isTTY: true, columns } : {};
  const io: Io = {
    stdin: Object.assign(stdin, tty),
    stdout: Object.assign(stdout, tty),
    stderr: Object.assign(stderr, tty),
    env,
    cwd,
    now: () => NOW,
    timeZone: "Europe/Berlin",
  };
  stdin.end(input);
  const code = await run(argv, io);
  return { code, stdout: readOut(), stderr: readErr() };
}

function collector(): [PassThrough, () => string] {
  const stream = new PassThrough();
  let text = "";
  stream.on("data", (chunk: Buffer) => (text += chunk.toString()));
  return [stream, () => text.replaceAll(/cli_[0-9a-f]{20}/g, "cli_<random>")];
}
