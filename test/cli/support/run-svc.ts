import { randomBytes } from "node:crypto";
import { tmpdir } from "node:os";
import path from "node:path";
import { PassThrough } from "node:stream";
import { expect } from "vitest";

import type { Io } from "../../../src/cli/output/out.js";
import { runCli } from "../../../src/cli/core/run.js";

/** Credentials for commands. */
export interface By {
  token: string;
  organizationId: string;
}

export interface RunOptions {
  env?: Record<string, string>;
  /** The address of the service, shown as `<service>` in results. */
  at?: string;
  /** Dummy credentials by default. */
  by?: By;
  cwd?: string;
  /** Where sessions are stored; by default a directory that does not exist yet. */
  configDirectory?: string | null;
  /** The text on standard input, which ends after it. */
  input?: string;
  /** Whether all three streams are a terminal, by default 80 columns wide. On a terminal, `input` is typed. */
  terminal?: boolean;
  columns?: number;
  /** Typed on a terminal instead of `input`, each when its question is shown. */
  answers?: readonly (readonly [question: string, answer: string])[];
  /** Receives all output to standard error so far, whenever there is more. */
  onStderr?: (text: string) => void;
  /** Receives all output to standard output so far, whenever there is more. */
  onStdout?: (text: string) => void;
  /** The current time in ms since the epoch; by default an instant in March 2026. */
  now?: number;
}

export interface Result {
  code: number;
  stdout: string;
  stderr: string;
}

// Snapshots show a result as a terminal does: `exit 1` unless it is 0, standard error after exclamation marks, then standard output.
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

/** A result in which words replace what differs from run to run. */
export function steady(result: Result, words: readonly (readonly [what: string | RegExp, word: string])[]): Result {
  const shown = (text: string) => words.reduce((all, [what, word]) => all.replaceAll(what, word), text);
  return { ...result, stdout: shown(result.stdout), stderr: shown(result.stderr) };
}

/** The instant at which tests run commands. */
const NOW = Date.parse("2026-03-14T10:00:00Z");

/** Runs a command line in this process and returns its output. Random request ids are replaced. */
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
  const remaining = [...answers];
  let shown = "";
  stderr.on("data", (chunk: Buffer) => {
    shown += chunk.toString();
    if (remaining[0] === undefined || !shown.includes(remaining[0][0])) return;
    const [, answer] = remaining.shift()!;
    shown = "";
    // Not while the question is being written.
    setImmediate(() => stdin.write(`${answer}\r`));
  });
}

function collector(): [PassThrough, () => string] {
  const stream = new PassThrough();
  let text = "";
  stream.on("data", (chunk: Buffer) => (text += chunk.toString()));
  return [stream, () => text.replaceAll(/cli_[0-9a-f]{20}/g, "cli_<random>")];
}
