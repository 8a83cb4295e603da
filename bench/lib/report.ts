import { mkdir, writeFile } from "node:fs/promises";
import Table from "cli-table3";
import type { Latency } from "./measure.js";
import type { TimePerUnit } from "./processor-time.js";

export interface Row {
  work: string;
  against: string;
  /** Units per second, or the unit itself if less is better. */
  ours: number;
  theirs: number;
  unit: string;
  /** Whether the ratio should be small: then `floor` is its maximum. */
  less?: boolean;
  /** The required ratio, and the one to aim for; null for a row for orientation. */
  floor: number | null;
  aim: number | null;
  /** Durations of single steps. */
  latency?: { ours: Latency | null; theirs?: Latency | null };
  /** Processor time of a unit of ours, by process. */
  processorTime?: TimePerUnit;
  /** Figures of the single rounds, for the file of results. */
  rounds?: Record<string, number[]>;
}

export function printRows(rows: Row[], settings: string): void {
  const table = new Table({
    head: ["work", "against", "ours", "theirs", "ratio", "floor", "aim"],
    colWidths: [34, 34, null, null, null, null, null],
    wordWrap: true,
    style: { head: [], border: [] },
  });
  for (const row of rows) {
    const ratio = row.ours / row.theirs;
    const missed = row.floor !== null && (row.less ? ratio > row.floor : ratio < row.floor);
    table.push([
      row.work,
      row.against,
      figure(row.ours, row.unit, row.latency?.ours, row.processorTime),
      figure(row.theirs, row.unit, row.latency?.theirs),
      `${ratio.toFixed(2)}${missed ? " (!)" : ""}`,
      bound(row.floor, row.less),
      bound(row.aim, row.less),
    ]);
  }
  console.log(`${settings}\n${table.toString()}\n`);
}

/** Saves the figures of a run; returns the path of the file. */
export async function saveRows(rows: Row[], settings: string): Promise<string> {
  const directory = new URL("../results/", import.meta.url);
  await mkdir(directory, { recursive: true });
  const at = new Date().toISOString();
  const file = new URL(`${at.replaceAll(":", "-")}.json`, directory);
  await writeFile(file, `${JSON.stringify({ at, settings, rows }, null, 2)}\n`);
  return file.pathname;
}

function figure(value: number, unit: string, latency: Latency | null | undefined, times: TimePerUnit = {}): string {
  const lines = [`${Math.round(value).toLocaleString("en-US")} ${unit}`];
  if (latency) lines.push(`p50 ${milliseconds(latency.p50)}`, `p99 ${milliseconds(latency.p99)}`);
  for (const [name, us] of Object.entries(times)) lines.push(`${name} ${us.toFixed(0)} µs`);
  return lines.join("\n");
}

function bound(ratio: number | null, less: boolean | undefined): string {
  return ratio === null ? "–" : `${less ? "≤ " : ""}${Number(ratio.toFixed(2))}`;
}

export function milliseconds(value: number): string {
  return `${value.toFixed(value < 10 ? 2 : 1)} ms`;
}
