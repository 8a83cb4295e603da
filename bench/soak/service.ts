import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { startEmbedded } from "../../src/db/embedded/embedded.js";
import { migrate } from "../../src/db/migrate/migrate.js";
import { registerCleanup } from "../lib/cleanup.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** A service as an operator runs it: one process, with the embedded database and its default settings, including autovacuum. */
export interface Installation {
  databaseUrl: string;
  /** Whether the service's processes act as the service's roles. */
  useRoles: boolean;
  secret: string;
  /** Starts `svc-server start`; default role: all. */
  start(role?: "all" | "http"): Promise<Service>;
}

export interface Service {
  address: string;
  pid: number;
  /** Resident memory of the process. */
  residentBytes(): Promise<number>;
  stop(): Promise<void>;
}

/** Creates a database in a new directory, without starting the service. */
export async function openInstallation(secret: string): Promise<Installation> {
  const dataDir = await mkdtemp(path.join(tmpdir(), "svc-bench-soak-"));
  registerCleanup(() => rm(dataDir, { recursive: true, force: true }));
  await chmod(dataDir, 0o711); // as root, the server runs as another user
  const server = await startEmbedded(dataDir);
  registerCleanup(() => server.stop());
  const { roles } = await migrate(server.url);
  return {
    databaseUrl: server.url,
    useRoles: roles,
    secret,
    start: (role = "all") => startService(dataDir, secret, role),
  };
}

async function startService(dataDir: string, secret: string, role: "all" | "http"): Promise<Service> {
  // As `npm start` does.
  const { scripts } = JSON.parse(await readFile(path.join(ROOT, "package.json"), "utf8")) as {
    scripts: { start: string };
  };
  const [, ...start] = scripts.start.split(" ");
  const child = spawn(process.execPath, [...start, "--role", role], {
    cwd: ROOT,
    env: {
      PATH: process.env["PATH"],
      SVC_DATA_DIR: dataDir,
      SVC_SECRET: secret,
      SVC_PORT: "0",
      SVC_WEBHOOK_ALLOW_PRIVATE: "1",
      LOG_LEVEL: "warn",
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const stop = registerCleanup(async () => {
    child.kill("SIGTERM");
    await exited;
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const address = /listening on (\S+)/.exec(line)?.[1];
    if (address === undefined) continue;
    child.stdout.resume();
    return { address, pid: child.pid!, residentBytes: () => residentBytes(child.pid!), stop };
  }
  throw new Error("the service ended before it listened");
}

async function residentBytes(pid: number): Promise<number> {
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kibibytes) * 1024;
}
