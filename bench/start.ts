import { spawn } from "node:child_process";
import { once } from "node:events";
import { access, chmod, mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { registerCleanup } from "./lib/cleanup.js";
import { latencyOf, median } from "./lib/measure.js";
import type { Row } from "./lib/report.js";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const COLD_MS_MAX = 3_000;
const POLL_MS = 5;
const SILENCE_MS_MAX = 60_000;

/** The steps of a start that are visible from outside, in order. */
const STEPS = [
  "npm, the build, and modules that are loaded before the service listens",
  "initdb",
  "the database server accepts connections",
  "migrations, code of the database, worker",
  "the first heartbeat, and /readyz succeeds",
] as const;

/** The time from `npm start` until /readyz is 200: on an empty directory, and with an existing database. */
export async function benchStart(rounds: number): Promise<Row[]> {
  const cold: number[][] = [];
  const warm: number[][] = [];
  const removals: (() => Promise<void>)[] = [];
  for (let round = 0; round <= rounds; round++) {
    const dataDir = await mkdtemp(path.join(tmpdir(), "svc-bench-start-"));
    const remove = registerCleanup(() => rm(dataDir, { recursive: true, force: true }));
    await chmod(dataDir, 0o711); // as root, the server runs as another user
    const [first, second] = [await start(dataDir), await start(dataDir)];
    removals.push(remove);
    if (round === 0) continue; // fills the system's cache of files
    cold.push(first);
    warm.push(second);
  }
  // Not earlier: ext4 does not reuse recently deleted inodes, and would search through all of them for each file that initdb creates.
  for (const remove of removals) await remove();
  return [
    { ...row("npm start on an empty directory until /readyz is 200", cold), floor: 1, aim: 0.75 },
    row("the same with an existing database", warm),
  ];
}

/** Prints the time of each step; returns the row of the totals. */
function row(work: string, starts: number[][]): Row {
  const totals = starts.map((steps) => steps.at(-1) ?? NaN);
  const spent = starts.map((steps) => steps.map((at, i) => at - (steps[i - 1] ?? 0)));
  console.log(`${work}: ${Math.round(median(totals))} ms`);
  for (const [i, step] of STEPS.entries()) {
    console.log(`${String(Math.round(median(spent.map((one) => one[i] ?? NaN)))).padStart(8)} ms  ${step}`);
  }
  return {
    work,
    against: `${COLD_MS_MAX} ms`,
    ours: median(totals),
    theirs: COLD_MS_MAX,
    unit: "ms",
    less: true,
    floor: null,
    aim: null,
    latency: { ours: latencyOf(totals) },
    rounds: { milliseconds: totals },
  };
}

/** Starts the service, stops it when it is ready, and returns when each step was done, in ms. */
async function start(dataDir: string): Promise<number[]> {
  const address = `http://127.0.0.1:${await freePort()}`;
  const env = { PATH: process.env["PATH"], HOME: process.env["HOME"], SVC_DATA_DIR: dataDir, LOG_LEVEL: "error" };
  const startedAt = performance.now();
  const child = spawn("npm", ["start", "--silent"], {
    cwd: ROOT,
    env: { ...env, SVC_PORT: new URL(address).port },
    stdio: ["ignore", "pipe", "inherit"],
    detached: true,
  });
  const exited = once(child, "exit");
  // The service outlives npm, which ends at once.
  const stop = registerCleanup(async () => {
    signalGroup(child.pid!, "SIGTERM");
    await exited;
    while (signalGroup(child.pid!, 0)) await delay(POLL_MS);
  });
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text));
  const checks: (() => Promise<boolean>)[] = [
    () => answers(`${address}/livez`),
    () => exists(path.join(dataDir, "postgres")),
    () => isServing(path.join(dataDir, "postgres/data/postmaster.pid")),
    () => Promise.resolve(printed.includes("listening on")),
    () => answers(`${address}/readyz`),
  ];
  const steps: number[] = [];
  for (const holds of checks) {
    while (!(await holds())) {
      if (child.exitCode !== null) throw new Error(`npm start ended with ${child.exitCode}`);
      if (performance.now() - startedAt > SILENCE_MS_MAX) throw new Error("npm start does not become ready");
      await delay(POLL_MS);
    }
    steps.push(performance.now() - startedAt);
  }
  await stop();
  return steps;
}

/** Returns false if the group has no process any more. */
function signalGroup(leader: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-leader, signal);
  } catch {
    return false;
  }
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
}

function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

/** Whether the last line of postmaster.pid says `ready`. */
async function isServing(file: string): Promise<boolean> {
  return (await readFile(file, "utf8").catch(() => "")).split("\n")[7]?.trim() === "ready";
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
