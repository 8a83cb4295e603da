/** The directory of a run; and removes what a killed one leaves behind: processes, a mounted disk, a directory. */
import { execFile } from "node:child_process";
import { chmod, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { isAlive } from "../../src/db/embedded/cluster.js";
import { kill } from "../kinds/kill.js";

/** The programs that start a service in a separate directory. */
export type RunningProgram = "faults" | "attacks" | "fuzz";

const NAME = /^svc-(?:faults|attacks|fuzz)-(\d+)-/;

/** Notes how to close something that was opened, and returns it. */
export type Opened = <C>(it: C, close: (it: C) => Promise<void>) => C;

/** Does work in a new directory; then closes what it opened, the latest first, and removes the directory, in any case. */
export async function inRunDirectory<T>(
  program: RunningProgram,
  work: (directory: string, opened: Opened) => Promise<T>,
): Promise<T> {
  const directory = await openRunDirectory(program);
  const cleanUp = [() => rm(directory, { recursive: true, force: true, maxRetries: 10 })];
  try {
    return await work(directory, (it, close) => {
      cleanUp.unshift(() => close(it));
      return it;
    });
  } finally {
    for (const step of cleanUp) await step();
  }
}

/** Creates a directory for a run, after removing the leftovers of others. By the process id in its name a later run sees whether this one is alive. */
async function openRunDirectory(program: RunningProgram): Promise<string> {
  await removeLeftovers(os.tmpdir());
  const directory = await mkdtemp(path.join(os.tmpdir(), `svc-${program}-${process.pid}-`));
  // PostgreSQL refuses to run as root; its own user must be able to traverse the directory.
  if (process.getuid?.() === 0) await chmod(directory, 0o711);
  return directory;
}

/** Ends and removes the leftovers of runs whose process has ended. Without /proc it removes only directories. */
export async function removeLeftovers(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const pid = NAME.exec(name)?.[1];
    if (pid === undefined || isAlive(Number(pid))) continue;
    const run = path.join(directory, name);
    await killUsers(run);
    await unmount(run);
    await rm(run, { recursive: true, force: true, maxRetries: 10 });
  }
}

/** Kills the service's processes and their PostgreSQL, which have the directory in their environment or arguments. */
async function killUsers(run: string): Promise<void> {
  // Repeated until none is left, because a supervisor restarts its processes.
  for (let found = true; found;) {
    found = false;
    for (const pid of (await list("/proc")).filter((name) => /^\d+$/.test(name))) {
      const description = (await Promise.all(["environ", "cmdline"].map((of) => text(`/proc/${pid}/${of}`)))).join("");
      if (!description.includes(`${run}/`)) continue;
      found = true;
      kill(Number(pid));
    }
  }
}

async function unmount(run: string): Promise<void> {
  const points = (await text("/proc/mounts")).split("\n").map((line) => line.split(" ")[1] ?? "");
  for (const point of points) if (point.startsWith(`${run}/`)) await promisify(execFile)("umount", ["--lazy", point]);
}

/** Files of other users' processes, and of those that have just ended, cannot be read. */
const text = (file: string) => readFile(file, "utf8").catch(() => "");
const list = (directory: string) => readdir(directory).catch((): string[] => []);
