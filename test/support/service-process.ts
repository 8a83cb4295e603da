import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { keepLog } from "./run-log.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** A process of `svc-server start`, from the last build. */
export interface ServiceProcess {
  /** Empty if it does not serve HTTP. */
  url: string;
  pid: number;
  signal(name: NodeJS.Signals): void;
  /** Resolves when it has ended, with its exit code or the signal that ended it. */
  ended: Promise<number | NodeJS.Signals>;
  /** Kills it if it has not ended yet; resolves when it has. */
  stop(): Promise<void>;
  /** Asks it to end; resolves as `ended`. */
  end(): Promise<number | NodeJS.Signals>;
}

export interface ServiceProcessOptions {
  /** Default: `all`. */
  role?: "all" | "http" | "worker";
  /** The directory of the package to start; default: the project's own. */
  root?: string;
  /** A file descriptor for its log; default: a file that is searched at the end of the run. */
  stderr?: number;
}

/** Starts the service on an existing database, with HTTP and workers by default; resolves once it is ready. `env` is added to the variables that it needs. */
export async function startServiceProcess(
  databaseUrl: string,
  env: Readonly<Record<string, string>> = {},
  { role = "all", root = ROOT, stderr }: ServiceProcessOptions = {},
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
    stdio: ["ignore", "pipe", stderr ?? "pipe"],
  });
  if (child.stderr !== null) keepLog(child.stderr, `service-${child.pid}`);
  const ended = once(child, "exit").then(() => (child.exitCode ?? child.signalCode)!);
  for await (const line of createInterface({ input: child.stdout! })) {
    const [, url = ""] = /listening on (\S+)|working$/.exec(line) ?? [null];
    if (url === null) continue;
    child.stdout!.resume();
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
