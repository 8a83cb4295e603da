import { mkdir, writeFile } from "node:fs/promises";
import Table from "cli-table3";

export interface Row {
  work: string;
  against: string;
  /** Units per second. */
  ours: number;
  theirs: number;
  unit: string;
  /** The ratio that must hold, and the one to aim for. */
  floor: number;
  aim: number;
  /** Figures of the single rounds, for the file. */
  rounds?: Record<string, number[]>;
}

export function printRows(rows: Row[], settings: string): void {
  const table = new Table({
    head: ["work", "against", "ours", "theirs", "ratio", "floor", "aim"],
    style: { head: [], border: [] },
  });
  for (const row of rows) {
    const ratio = row.ours / row.theirs;
    table.push([
      row.work,
      row.against,
      `${format(row.ours)} ${row.unit}`,
      `${format(row.theirs)} ${row.unit}`,
      `${ratio.toFixed(2)}${ratio < row.floor ? " (!)" : ""}`,
      String(row.floor),
      String(row.aim),
    ]);
  }
  console.log(`${settings}\n${table.toString()}`);
}

/** Keeps the figures of a run beside those of earlier ones. */
export async function saveRows(rows: Row[], settings: string): Promise<string> {
  const directory = new URL("../results/", import.meta.url);
  await mkdir(directory, { recursive: true });
  const at = new Date().toISOString();
  const file = new URL(`${at.replaceAll(":", "-")}.json`, directory);
  await writeFile(file, `${JSON.stringify({ at, settings, rows }, null, 2)}\n`);
  return file.pathname;
}

function format(rate: number): string {
  return Math.round(rate).toLocaleString("en-US");
}
