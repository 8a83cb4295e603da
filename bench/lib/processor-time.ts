import { readdirSync, readFileSync } from "node:fs";
import type { Sql } from "postgres";
import { median } from "./measure.js";

/** Linux reports processor time to programs in ticks of this length, whatever the kernel's own tick is. */
const TICK_US = 10_000;

/** Microseconds of processor time per unit of work, by process. */
export type TimePerUnit = Readonly<Record<string, number>>;

/**
 * Measures the processor time of the processes that do some work, independently of other load: rates of single runs differ by a fifth or more,
 * processor time by a tenth. Empty on systems other than Linux.
 *
 * @param processes ids by name; the database server of the connection is added as `database`
 * @param work returns how many units it was
 */
export async function timed(
  { sql, processes }: { sql: Sql; processes: Readonly<Record<string, number>> },
  work: () => Promise<number>,
) {
  const [{ pid }] = await sql<[{ pid: number }]>`select pg_backend_pid() as pid`;
  const postmaster = statusOf(pid)?.parent;
  const read = (): [string, number][] =>
    postmaster === undefined
      ? []
      : [
          ...Object.entries(processes).map(([name, id]): [string, number] => [name, statusOf(id)?.us ?? 0]),
          ["database", childrenOf(postmaster)],
        ];
  const before = new Map(read());
  const units = await work();
  const perUnit: TimePerUnit = Object.fromEntries(read().map(([name, us]) => [name, (us - before.get(name)!) / units]));
  return { units, perUnit };
}

/** The median of each process. */
export function medianTimes(times: readonly TimePerUnit[]): TimePerUnit {
  const names = Object.keys(times[0] ?? {});
  return Object.fromEntries(names.map((name) => [name, median(times.map((one) => one[name] ?? 0))]));
}

/** Microseconds of processor time of a process's children, including those that have ended. */
function childrenOf(parent: number): number {
  let us = statusOf(parent)?.endedChildrenUs ?? 0;
  for (const id of processIds()) {
    const status = statusOf(id);
    if (status?.parent === parent) us += status.us;
  }
  return us;
}

function processIds(): number[] {
  try {
    return readdirSync("/proc").map(Number).filter(Number.isInteger);
  } catch {
    return []; // no Linux
  }
}

/** Null if there is no such process, or no `/proc`. */
function statusOf(pid: number): { parent: number; us: number; endedChildrenUs: number } | null {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name may contain anything; what follows it has no parenthesis.
    const fields = status
      .slice(status.lastIndexOf(")") + 2)
      .split(" ")
      .map(Number);
    const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11);
    return {
      parent: fields[1] ?? 0,
      us: (user + system) * TICK_US,
      endedChildrenUs: (endedUser + endedSystem) * TICK_US,
    };
  } catch {
    return null;
  }
}
