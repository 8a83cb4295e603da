/** The tables of a run. */
import { counts, mebibytes } from "../attacks/report.js";
import { reportTable, type ReportStyle } from "../src/demo/report/style.js";
import type { Part } from "./part.js";

export function report(style: ReportStyle, parts: readonly Part[]): string {
  const titles = [
    "requests",
    "2xx",
    "4xx",
    "5xx",
    "none",
    "compared",
    "lost",
    "altered",
    "doubled",
    "memory",
    "slowest",
    "findings",
  ];
  return [
    reportTable(
      style,
      "Answers, comparison of what was accepted with what is stored, peak memory of the service, the slowest answer",
      [{ title: "part" }, ...titles.map((title) => ({ title, align: "right" as const }))],
      parts.map((part) => [
        part.name,
        part.requests,
        ...["2", "4", "5"].map((first) => answersOf(part, (how) => new RegExp(`^${first}\\d\\d`).test(how))),
        answersOf(part, (how) => !/^\d/.test(how)),
        part.compared,
        part.lost,
        part.altered,
        part.doubled,
        mebibytes(part.memory),
        `${Math.round(part.slowestMs)} ms`,
        part.findings,
      ]),
    ),
    ...parts.map(({ name, answers }) => `${name}: ${counts(Object.fromEntries(answers)) || "nothing"}\n`),
    ...parts.flatMap(({ shown, findings }) => [
      ...shown.map((what) => `\n${what}\n`),
      ...(findings > shown.length ? [`\n… and ${findings - shown.length} more\n`] : []),
    ]),
    "\n",
  ].join("");
}

function answersOf({ answers }: Part, is: (how: string) => boolean): number {
  return [...answers].reduce((sum, [how, times]) => sum + (is(how) ? times : 0), 0);
}
