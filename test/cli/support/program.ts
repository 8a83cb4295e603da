import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { text } from "node:stream/consumers";

export const PROGRAM = path.resolve(import.meta.dirname, "../../../bin/svc.js");

export interface StartOptions {
  /** The address of a service to work with, with a token that any takes. */
  at?: string;
  env?: Record<string, string>;
  cwd?: string;
  uid?: number;
  /** Of Node.js. */
  flags?: readonly string[];
}

/** Whether this machine has a program. */
export const isThere = (program: string): boolean => spawnSync(program, ["--version"]).status === 0;

/** The variables of a process that works with a service, as any takes them. */
export function variables(at?: string): Record<string, string> {
  const session = { SVC_API_URL: at ?? "", SVC_ACCESS_TOKEN: "t", SVC_ORGANIZATION: "o" };
  return { PATH: process.env["PATH"] ?? "", ...(at === undefined ? {} : session) };
}

/** Starts the program as users do, with nothing on its standard input. */
export function start(
  argv: readonly string[],
  { at, env, flags = [], ...options }: StartOptions = {},
): ChildProcessWithoutNullStreams {
  const child = spawn(process.execPath, [...flags, PROGRAM, ...argv], {
    ...options,
    env: { ...variables(at), ...env },
  });
  child.stdin.end();
  return child;
}

/** What it printed, once it has ended. */
export async function ended(child: ChildProcessWithoutNullStreams) {
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { code: code as number | null, stdout, stderr };
}
