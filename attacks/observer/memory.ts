/** Peak memory of the service and its PostgreSQL, as reported by Linux; zero elsewhere. */
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import type { Figures, ObserverSettings } from "./figures.js";

const EVERY_MS = 250;
const KIB = 1024;

export class Memory {
  #peak = { service: 0, postgres: 0 };

  constructor(private readonly pids: ObserverSettings["pids"]) {}

  /** Samples as long as the process has other work. */
  async run(): Promise<void> {
    for (;;) {
      const { service, postmaster } = this.pids;
      const servers = [postmaster, ...(await childrenOf(postmaster))];
      const [resident, ...unshared] = await Promise.all([
        kibibytes(service, "VmRSS"),
        ...servers.map((pid) => kibibytes(pid, "RssAnon")),
      ]);
      const postgres = unshared.reduce((sum, one) => sum + one, 0);
      this.#peak = {
        service: Math.max(this.#peak.service, resident * KIB),
        postgres: Math.max(this.#peak.postgres, postgres * KIB),
      };
      await delay(EVERY_MS, undefined, { ref: false });
    }
  }

  take(): Figures["memory"] {
    const peak = this.#peak;
    this.#peak = { service: 0, postgres: 0 };
    return peak;
  }
}

async function childrenOf(pid: number): Promise<number[]> {
  const tasks = await readdir(`/proc/${pid}/task`).catch((): string[] => []);
  const lists = await Promise.all(tasks.map((task) => text(`/proc/${pid}/task/${task}/children`)));
  return lists.flatMap((list) => list.split(" ").filter((one) => one !== "")).map(Number);
}

async function kibibytes(pid: number, name: string): Promise<number> {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(await text(`/proc/${pid}/status`))?.[1] ?? 0);
}

/** Files of a process that has just ended cannot be read. */
const text = (file: string) => readFile(file, "utf8").catch(() => "");
