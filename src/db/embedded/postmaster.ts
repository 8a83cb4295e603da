import { createServer, type AddressInfo } from "node:net";
import { chmod, chown, readFile, realpath, rename, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { isAlive, type Cluster } from "./cluster.js";
import { CommandError, runCommand, SetupError } from "./command.js";
import { unlessMissing } from "./files.js";

/** A running server, as it describes itself in postmaster.pid. */
export interface Postmaster {
  pid: number;
  port: number;
  /** `starting`, `ready`, `stopping` or `standby`. */
  status: string;
}

const LOG_BYTES_MAX = 10_000_000;
const PORT_ATTEMPTS = 5;
/**
 * How long the server may take for its last checkpoint, then to end without one: where its disk is full, the checkpoint is tried for ever, and
 * the next start recovers what it would have written.
 */
const STOP_SECONDS = { fast: 60, immediate: 20 };
const START_POLL_MS = 10;
const STOP_POLL_MS = 20;
/** Above Linux's largest pid_max, 2^22. */
const PID_IMPOSSIBLE = 2 ** 22 + 1;

/** The server that runs on this cluster, or null; a file whose process is gone, or is another one, is ignored. */
export async function findPostmaster(cluster: Pick<Cluster, "data">): Promise<Postmaster | null> {
  const found = await readPidFile(cluster);
  if (found === null || !isAlive(found.pid) || !(await isServerOf(cluster, found.pid))) return null;
  const { pid, lines } = found;
  return { pid, port: Number(lines[3] ?? 0), status: lines[7] ?? "starting" };
}

/** Lines: process id, data directory, start time, port, socket directory, listen address, shared memory, status. Null without an id. */
async function readPidFile({ data }: Pick<Cluster, "data">) {
  const file = path.join(data, "postmaster.pid");
  const text = await unlessMissing(readFile(file, "utf8"), null);
  const lines = (text ?? "").split("\n").map((line) => line.trim());
  const pid = Math.abs(Number(lines[0]));
  return text !== null && pid > 0 ? { file, text, lines, pid } : null;
}

/**
 * Whether a living process may be the server of this cluster. It is not if it has another working directory than the cluster's data, which
 * PostgreSQL makes its own before it writes its process id: the id was used again after a crash, the data was copied while a server ran on
 * it, or the process is dead and its parent never waits for it, as in containers whose first process is not an init.
 */
async function isServerOf({ data }: Pick<Cluster, "data">, pid: number): Promise<boolean> {
  if (process.platform !== "linux") return true;
  try {
    return (await realpath(`/proc/${pid}/cwd`)) === (await realpath(data));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ESRCH") return false; // it ended
    if (code !== "EACCES" && code !== "EPERM") throw error;
    // A server owns its data.
    return (await stat(`/proc/${pid}`)).uid === (await stat(data)).uid;
  }
}

/**
 * PostgreSQL takes any living process of its user, and a dead one that nobody waits for, for the former server, and refuses to start. So
 * its process id in postmaster.pid is replaced by one that cannot exist; the file stays, because its other lines let the new server see
 * whether a process of the old one still uses its shared memory.
 */
export async function disownOther(cluster: Pick<Cluster, "data">): Promise<void> {
  const found = await readPidFile(cluster);
  if (found !== null && isAlive(found.pid) && !(await isServerOf(cluster, found.pid)))
    await writeFile(found.file, found.text.replace(/^.*$/m, String(PID_IMPOSSIBLE)));
}

/**
 * Starts a server on the cluster, detached from our process. Uses the port of the last one if possible, so that an address that an operator
 * noted stays valid, otherwise a free one. If it does not start, throws with the end of its log; this also happens if another process started
 * one at the same moment, so the caller must look for that first.
 *
 * @param onWait called when there is nothing to do but wait for the server
 * @returns false if the last server died and one of its processes still executes a statement: once that ends, a server can start
 */
export async function launch(cluster: Cluster, onWait?: () => void): Promise<boolean> {
  await closeToOthers(cluster);
  await disownOther(cluster);
  // One older log is kept. Only before a start: a running server keeps its file open.
  if ((await logSize(cluster)) > LOG_BYTES_MAX) await rename(cluster.log, `${cluster.log}.1`);
  for (let attempt = 1; ; attempt++) {
    const port = await choosePort(cluster);
    const logged = await logSize(cluster);
    try {
      const starting = runCommand(cluster.binaries.pgCtl, startArguments(cluster, port), cluster.account);
      onWait?.();
      await untilStarted(starting, cluster);
      await writePort(cluster, port);
      return true;
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      const tail = await logSince(cluster, logged);
      // Another program can take the port between our check and the server's bind.
      if (/could not bind/.test(tail) && attempt < PORT_ATTEMPTS) continue;
      if (/pre-existing shared memory block .* is still in use/.test(tail)) return false;
      const reason = tail.trim().split("\n").slice(-5).join(" | ") || error.output;
      throw new SetupError(`PostgreSQL did not start in ${cluster.data}: ${reason}${adviceOn(reason, cluster)}`, {
        cause: error,
      });
    }
  }
}

/** PostgreSQL refuses data that others may read or its group may change, as a copy or a volume with a group of its own (fsGroup) leaves it. */
async function closeToOthers({ data }: Cluster): Promise<void> {
  if (((await stat(data)).mode & 0o027) === 0) return;
  try {
    await chmod(data, 0o700);
  } catch (error) {
    throw new SetupError(
      `PostgreSQL does not start on ${data}, because others may read or change it (${(error as NodeJS.ErrnoException).code}); ` +
        `start as the user that owns it, or run as that one: chmod 700 ${data}`,
      { cause: error },
    );
  }
}

/** The file is not removed here, because a server that is just starting has an empty one, too. */
function adviceOn(reason: string, { data, log }: Cluster): string {
  return /(PID|lock) file .* is empty/.test(reason)
    ? `; a former start was interrupted: if no PostgreSQL runs there, remove ${path.join(data, "postmaster.pid")}, and start again`
    : `; correct that, and start again; its log is ${log}`;
}

/** Resolves once the server is started; polls faster than pg_ctl, which checks only ten times a second. */
async function untilStarted(starting: Promise<unknown>, cluster: Cluster): Promise<void> {
  let isOver = false;
  const isReady = async () => {
    while (!isOver && (await findPostmaster(cluster))?.status !== "ready") await delay(START_POLL_MS);
  };
  try {
    await Promise.race([starting, isReady()]);
  } finally {
    isOver = true;
  }
}

/**
 * Stops the server: connections are ended, open transactions rolled back. Returns when it has stopped. Does not let pg_ctl wait, because that
 * watches postmaster.pid and would wait for a server that another process started as soon as this one had gone.
 */
export async function halt(cluster: Cluster, seconds = STOP_SECONDS): Promise<void> {
  const stopping = await findPostmaster(cluster);
  if (stopping === null) return;
  const isRunning = async () => (await findPostmaster(cluster))?.pid === stopping.pid;
  for (const mode of ["fast", "immediate"] as const) {
    try {
      const stop = ["stop", "--no-wait", `--mode=${mode}`, `--pgdata=${cluster.data}`];
      await runCommand(cluster.binaries.pgCtl, stop, cluster.account);
    } catch (error) {
      if (!(await isRunning())) return; // it had already ended
      throw error;
    }
    const deadline = Date.now() + seconds[mode] * 1000;
    while (Date.now() <= deadline) {
      if (!(await isRunning())) return;
      await delay(STOP_POLL_MS);
    }
  }
  throw new SetupError(`PostgreSQL in ${cluster.data} does not stop; its log is ${cluster.log}`);
}

function startArguments({ data, log }: Cluster, port: number): string[] {
  const options = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=`;
  return ["start", "--wait", "--timeout=300", "--silent", `--pgdata=${data}`, `--log=${log}`, `--options=${options}`];
}

async function choosePort(cluster: Cluster): Promise<number> {
  const recorded = await readPort(cluster);
  const kept = recorded === null ? null : await listenOnce(recorded);
  return kept ?? (await listenOnce(0)) ?? 0;
}

/** The port of the last server; null if there was none, or if the file has no port. */
async function readPort(cluster: Cluster): Promise<number | null> {
  const file = portFile(cluster);
  try {
    const text = await unlessMissing(readFile(file, "utf8"), "");
    return /^\d{1,5}\n?$/.test(text) && Number(text) <= 65_535 ? Number(text) : null;
  } catch (error) {
    throw new SetupError(
      `cannot read ${file} (${(error as NodeJS.ErrnoException).code}); start as the user that made it, or remove it: the next start makes it again`,
      { cause: error },
    );
  }
}

/** Like the other files it belongs to the server's account, as which a later start may run. */
async function writePort(cluster: Cluster, port: number): Promise<void> {
  const file = portFile(cluster);
  await writeFile(file, `${port}\n`, { mode: 0o600 });
  if (cluster.account !== null) await chown(file, cluster.account.uid, cluster.account.gid);
}

function portFile(cluster: Cluster): string {
  return path.join(cluster.home, "port");
}

/** Listens on a port (0 = any) briefly and returns its number, or null if it is taken. */
function listenOnce(port: number): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) =>
      error.code === "EADDRINUSE" || error.code === "EACCES" ? resolve(null) : reject(error),
    );
    server.listen({ port, host: "127.0.0.1", exclusive: true }, () => {
      const chosen = (server.address() as AddressInfo).port;
      server.close(() => resolve(chosen));
    });
  });
}

async function logSize(cluster: Cluster): Promise<number> {
  return (await unlessMissing(stat(cluster.log), { size: 0 })).size;
}

async function logSince(cluster: Cluster, size: number): Promise<string> {
  if ((await logSize(cluster)) <= size) return "";
  return (await readFile(cluster.log)).subarray(size).toString("utf8");
}
