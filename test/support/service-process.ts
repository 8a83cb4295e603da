import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { keepLog } from "./run-log.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** A process of `svc-server start`, as it was built last. */
export interface ServiceProcess {
  /** Empty where it does no HTTP. */
  url: string;
  pid: number;
  signal(name: NodeJS.Signals): void;
  /** How it ended, once it has: its exit code, or the signal that ended it. */
  ended: Promise<number | NodeJS.Signals>;
  /** Kills it where it has not ended yet, and resolves when it has. */
  stop(): Promise<void>;
  /** Asks it to end, and resolves with how it did. */
  end(): Promise<number | NodeJS.Signals>;
}

export interface ServiceProcessOptions {
  /** What it does: `all` unless given. */
  role?: "all" | "http" | "worker";
  /** The directory of the package that is started; the project's own unless given. */
  root?: string;
}

/** Starts the service, HTTP and workers unless told otherwise, on a database that is there; resolves once it listens, or works. `env` is added to what it needs. */
export async function startServiceProcess(
  databaseUrl: string,
  env: Readonly<Record<string, string>> = {},
  { role = "all", root = ROOT }: ServiceProcessOptions = {},
): Promise<ServiceProcess> {
  const program = path.join(root, "bin/svc-server.js");
  const child = spawn(process.execPath, [program, "start", "--role", role], {
    env: {
      PATH: process.env["PATH"],
      DATABASE_URL: databaseUrl,
      SVC_SECRET: "a secret of the tests, long enough",
      SVC_PORT: "0",
      LOG_LEVEL: "trace",
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  keepLog(child.stderr, `service-${child.pid}`);
  const ended = once(child, "exit").then(() => (child.exitCode ?? child.signalCode)!);
  for await (const line of createInterface({ input: child.stdout })) {
    const [, url = ""] = /listening on (\S+)|working$/.exec(line) ?? [null];
    if (url === null) continue;
    child.stdout.resume();
    return {
      url,
      pid: child.pid!,
      signal: (name) => child.kill(name),
      ended,
      stop: async () => {
        child.kill("SIGKILL");
        await ended;
      },
      end: async () => {
        child.kill("SIGTERM");
        return ended;
      },
    };
  }
  throw new Error("the service ended before it listened");
}
