import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { registerCleanup } from "./cleanup.js";
import type { BenchDatabase } from "./database.js";

export interface Child {
  /** The line that it printed when it was ready. */
  ready: string;
  pid: number;
  stop(): Promise<void>;
}

/** The database that a process works on. */
type DatabaseAddress = Pick<BenchDatabase, "url" | "useRoles">;

/** The backend of the ingestion routes of an application under test; see bench/app.ts. */
export type Backend = "service" | "constant" | "one call per request";

const STOP_MS_MAX = 15_000;

/** Starts the HTTP application on a database, in a separate process; `ready` is its address. */
export function startApp(database: DatabaseAddress, backend: Backend): Promise<Child> {
  return start(new URL("../app.ts", import.meta.url), database, { BENCH_BACKEND: backend });
}

/** Starts what `svc-server start --role worker` runs; `secret` is its SVC_SECRET. */
export function startWorker(database: DatabaseAddress, secret?: string): Promise<Child> {
  return start(
    new URL("../worker.ts", import.meta.url),
    database,
    secret === undefined ? {} : { BENCH_SECRET: secret },
  );
}

/** Starts a receiver of webhooks in a separate process; see bench/webhooks/receiver.ts. `ready` is its address. */
export function startReceiver(database: DatabaseAddress): Promise<Child> {
  return start(new URL("../webhooks/receiver.ts", import.meta.url), database, {});
}

async function start(script: URL, database: DatabaseAddress, settings: Record<string, string>): Promise<Child> {
  // Its standard input is a pipe from us; when that ends, it knows that we have ended, for whatever reason.
  const child = spawn(process.execPath, [...process.execArgv, fileURLToPath(script)], {
    env: {
      ...process.env,
      ...settings,
      BENCH_DATABASE_URL: database.url,
      BENCH_USE_ROLES: database.useRoles ? "1" : "",
    },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const stop = registerCleanup(async () => {
    const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS_MAX);
    child.kill("SIGTERM");
    await exited;
    clearTimeout(timer);
  });
  const lines = createInterface(child.stdout);
  const [line] = (await Promise.race([once(lines, "line"), exited.then(() => [])])) as [string?];
  if (line === undefined) throw new Error(`${script.pathname} ended before it was ready`);
  return { ready: line, pid: child.pid!, stop };
}
