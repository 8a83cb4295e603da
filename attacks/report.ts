/** The tables of a run. */
import { figure, reportTable, type ReportColumn, type ReportStyle } from "../src/demo/report/style.js";
import type { Figures } from "./observer/figures.js";
import { BLOCK_MS_GOAL, inSeconds, P99_MS_MAX, visibleOf, type Attacked, type Outcome } from "./outcome.js";

const MIB = 1024 * 1024;

const right = (title: string): ReportColumn => ({ title, align: "right" });

export function report(style: ReportStyle, outcomes: readonly Outcome[], each: readonly Attacked[]): string {
  return [
    reportTable(
      style,
      `What the neighbour saw: time from when events were due until its customers showed them (p99 below ${inSeconds(P99_MS_MAX)}), the longest wait for /livez (the goal is ${BLOCK_MS_GOAL} ms), peak memory, restarts`,
      [
        { title: "attack" },
        ...[
          "quiet p99",
          "p50",
          "p99",
          "worst",
          "refused",
          "not once",
          "/livez",
          "/readyz",
          "service",
          "PostgreSQL",
          "restarts",
        ].map(right),
        { title: "" },
      ],
      outcomes.map(seenRow),
    ),
    reportTable(
      style,
      "What the attacker did",
      [{ title: "attack" }, ...["requests", "MiB"].map(right)],
      [...outcomes.map(didRow), ...each.map(didRow)],
    ),
    ...[...outcomes, ...each].map(({ name, answers }) => `answered to ${name}: ${counts(answers) || "nothing"}\n`),
    ...outcomes.flatMap(({ name, refused }) =>
      total(refused) === 0 ? [] : [`refused to the neighbour during ${name}: ${counts(refused)}\n`],
    ),
    ...outcomes.flatMap(({ name, broken }) => broken.map((what) => `broken by ${name}: ${what}\n`)),
    "\n",
  ].join("");
}

export function inOneLine({ broken, during, longestBlockMs, restarts }: Outcome): string {
  const p99 = during === null ? "–" : inSeconds(during.p99);
  const verdict = broken.length === 0 ? "held" : `BROKEN: ${broken.join("; ")}`;
  return `p99 ${p99}, /livez ${time(longestBlockMs)}, ${restarts} restarts; ${verdict}`;
}

/** The progress line of each minute. */
export function minuteInWords(minutes: number, figures: Figures, restarts: number): string {
  const seen = visibleOf(figures);
  const p99 = seen === null ? "nothing seen" : `p99 ${inSeconds(seen.p99)}, worst ${inSeconds(seen.max)}`;
  const { memory, unseen, longestBlockMs } = figures;
  return `${minutes} min: ${p99}, ${unseen} not seen yet, /livez ${inSeconds(longestBlockMs)}, service ${mebibytes(memory.service)}, PostgreSQL ${mebibytes(memory.postgres)}, ${restarts} restarts, /readyz ${counts(figures.unready) || "fine"}`;
}

function seenRow({
  name,
  quiet,
  during,
  refused,
  notOnce,
  longestBlockMs,
  unready,
  memory,
  restarts,
  broken,
}: Outcome): (string | number)[] {
  return [
    name,
    time(quiet?.p99),
    ...[during?.p50, during?.p99, during?.max].map(time),
    total(refused),
    notOnce,
    time(longestBlockMs),
    total(unready) === 0 ? "fine" : `${total(unready)} failed`,
    mebibytes(memory.service),
    mebibytes(memory.postgres),
    restarts,
    broken.length === 0 ? "held" : "BROKEN",
  ];
}

function didRow({ name, requests, bytes }: Attacked): (string | number)[] {
  return [name, requests, Math.round(bytes / MIB)];
}

/** Counts in words, the most frequent first. */
export function counts(of: Record<string, number>): string {
  return Object.entries(of)
    .toSorted(([, one], [, other]) => other - one)
    .map(([what, times]) => `${figure(times)} × ${what}`)
    .join(", ");
}

const total = (of: Record<string, number>): number => Object.values(of).reduce((sum, times) => sum + times, 0);
const time = (ms: number | undefined): string => (ms === undefined || Number.isNaN(ms) ? "–" : inSeconds(ms));
export const mebibytes = (bytes: number): string =>
  Number.isNaN(bytes) ? "–" : `${figure(Math.round(bytes / MIB))} MiB`;
