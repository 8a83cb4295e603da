import { randomBytes } from "node:crypto";
import { tmpdir } from "node:os";
import path from "node:path";
import { PassThrough } from "node:stream";
import { expect } from "vitest";

import type { Io } from "../../../src/cli/output/out.js";
import { runCli } from "../../../src/cli/core/run.js";

/** In whose name commands are run. */
export interface By {
  token: string;
  organizationId: string;
}

export interface RunOptions {
  env?: Record<string, string>;
  /** The address of the service to work with, which is shown as `<service>`. */
  at?: string;
  /** Any that a service of a test's own takes, unless given. */
  by?: By;
  cwd?: string;
  /** Where sessions are kept; a folder that is not there yet unless given. */
  configDirectory?: string | null;
  /** What is on standard input; it ends after that. */
  input?: string;
  /** Whether all three streams are a terminal; its width is 80 unless given. On one, `input` is what is typed. */
  terminal?: boolean;
  columns?: number;
  /** What is typed on a terminal instead of `input`, each once its question is shown. */
  answers?: readonly (readonly [question: string, answer: string])[];
  /** Is told all that was printed to standard error, whenever there is more. */
  onStderr?: (text: string) => void;
  /** The same of standard output. */
  onStdout?: (text: string) => void;
  /** Now, in milliseconds; an instant in March 2026 unless given. */
  now?: number;
}

export interface Result {
  code: number;
  stdout: string;
  stderr: string;
}

// Snapshots show a result as a terminal does: `exit 1` unless it is 0, standard error behind exclamation marks, then standard output.
expect.addSnapshotSerializer({
  test: (value: unknown) =>
    typeof value === "object" &&
    value !== null &&
    ["code", "stdout"].every((name) => name in value) &&
    Object.keys(value).every((name) => ["code", "stdout", "stderr"].includes(name)),
  serialize: ({ code, stdout, stderr = "" }: Omit<Result, "stderr"> & Partial<Result>) => {
    const lines = [...(code === 0 ? [] : [`exit ${code}`]), ...marked(stderr, "!"), ...marked(stdout, "")];
    return lines.join("\n") || "exit 0";
  },
});

function marked(text: string, mark: string): string[] {
  if (text === "") return [];
  const lines = text.endsWith("\n") ? text.slice(0, -1) : `${text} (no line end)`;
  return lines.split("\n").map((line) => [mark, line].filter((part) => part !== "").join(" "));
}

/** A result with words in the place of what differs from run to run. */
export function steady(result: Result, words: readonly (readonly [what: string | RegExp, word: string])[]): Result {
  const shown = (text: string) => words.reduce((all, [what, word]) => all.replaceAll(what, word), text);
  return { ...result, stdout: shown(result.stdout), stderr: shown(result.stderr) };
}

/** The instant at which tests run commands. */
const NOW = Date.parse("2026-03-14T10:00:00Z");

/** Runs a command line in this process and returns all that it printed. Ids of requests, random by nature, are replaced. */
export async function svc(argv: readonly string[], options: RunOptions = {}): Promise<Result> {
  const {
    at,
    by = { token: "t", organizationId: "o" },
    cwd = import.meta.dirname,
    input = "",
    terminal = false,
    columns = 80,
    configDirectory = path.join(tmpdir(), `svc-test-${randomBytes(8).toString("hex")}`),
    answers,
    onStderr,
    onStdout,
    now = NOW,
  } = options;
  const session = { SVC_ACCESS_TOKEN: by.token, SVC_ORGANIZATION: by.organizationId };
  const env = { ...(at === undefined ? {} : { ...session, SVC_API_URL: at }), ...options.env };
  const shown = (text: string) => (at === undefined ? text : text.replaceAll(at, "<service>"));
  const stdin = new PassThrough();
  const [stdout, readOut] = collector();
  const [stderr, readErr] = collector();
  stderr.on("data", () => onStderr?.(readErr()));
  stdout.on("data", () => onStdout?.(readOut()));
  const tty = terminal ? { isTTY: true, columns } : {};
  const io: Io = {
    stdin: Object.assign(stdin, tty),
    stdout: Object.assign(stdout, tty),
    stderr: Object.assign(stderr, tty),
    env,
    cwd,
    configDirectory: () => Promise.resolve(configDirectory),
    now: () => now,
    timeZone: "Europe/Berlin",
  };
  if (answers === undefined) stdin.end(input);
  else typeAnswers(stdin, stderr, answers);
  const code = await runCli(argv, io);
  return { code, stdout: shown(readOut()), stderr: shown(readErr()) };
}

function typeAnswers(stdin: PassThrough, stderr: PassThrough, answers: NonNullable<RunOptions["answers"]>): void {
  const left = [...answers];
  let shown = "";
  stderr.on("data", (chunk: Buffer) => {
    shown += chunk.toString();
    if (left[0] === undefined || !shown.includes(left[0][0])) return;
    const [, answer] = left.shift()!;
    shown = "";
    // Not in the midst of writing the question.
    setImmediate(() => stdin.write(`${answer}\r`));
  });
}

function collector(): [PassThrough, () => string] {
  const stream = new PassThrough();
  let text = "";
  stream.on("data", (chunk: Buffer) => (text += chunk.toString()));
  return [stream, () => text.replaceAll(/cli_[0-9a-f]{20}/g, "cli_<random>")];
}
