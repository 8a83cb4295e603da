/** What a run that was killed outright leaves behind: processes, a mounted disk, a directory. */
import { execFile } from "node:child_process";
import { chmod, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { isAlive } from "../../src/db/embedded/cluster.js";
import { kill } from "../kinds/kill.js";

/** Those that start a service in a directory of its own. */
export type RunningProgram = "faults" | "attacks" | "fuzz";

const NAME = /^svc-(?:faults|attacks|fuzz)-(\d+)-/;

/** A directory of its own for a run, which ends and removes what others left. By the number in its name a later run sees whether this one lives. */
export async function openRunDirectory(program: RunningProgram): Promise<string> {
  await removeLeftovers(os.tmpdir());
  const directory = await mkdtemp(path.join(os.tmpdir(), `svc-${program}-${process.pid}-`));
  // PostgreSQL refuses to run as root and gets a user of its own, which must be able to pass through.
  if (process.getuid?.() === 0) await chmod(directory, 0o711);
  return directory;
}

/** Ends and removes what is left in a directory of runs whose process is gone. Where there is no /proc, only directories. */
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

/** The service's processes, and the PostgreSQL that they started, have the directory in their environment or in their arguments. */
async function killUsers(run: string): Promise<void> {
  // A supervisor starts again what it had: until nobody is left.
  for (let found = true; found;) {
    found = false;
    for (const pid of (await list("/proc")).filter((name) => /^\d+$/.test(name))) {
      const said = (await Promise.all(["environ", "cmdline"].map((of) => text(`/proc/${pid}/${of}`)))).join("");
      if (!said.includes(`${run}/`)) continue;
      found = true;
      kill(Number(pid));
    }
  }
}

async function unmount(run: string): Promise<void> {
  const points = (await text("/proc/mounts")).split("\n").map((line) => line.split(" ")[1] ?? "");
  for (const point of points) if (point.startsWith(`${run}/`)) await promisify(execFile)("umount", ["--lazy", point]);
}

/** Of others' processes and of those that have just ended nothing can be read. */
const text = (file: string) => readFile(file, "utf8").catch(() => "");
const list = (directory: string) => readdir(directory).catch((): string[] => []);
