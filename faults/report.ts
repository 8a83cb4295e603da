/** The tables of a run. */
import { figure, reportTable, type ReportColumn, type ReportStyle } from "../src/demo/report/style.js";
import type { Ledger } from "./ledger.js";
import type { Strike } from "./strikes.js";
import type { Verification } from "./verification.js";

export interface Outcome {
  strikes: readonly Strike[];
  /** Faults that could not strike here, and why. */
  missing: readonly { fault: string; why: string }[];
  verification: Verification;
  ledger: Ledger;
  /** What else happened, and how often. */
  happened: readonly [what: string, times: number][];
}

const right = (title: string): ReportColumn => ({ title, align: "right" });

export function report(style: ReportStyle, { strikes, missing, verification, ledger, happened }: Outcome): string {
  const { figures, claims } = verification;
  const repeated = [...ledger.retries].toSorted(([, one], [, other]) => other - one);
  return [
    reportTable(
      style,
      "Faults; time until a request sent afterwards was accepted, and until everything was evaluated; and what the examination found",
      [
        { title: "fault" },
        ...["times", "accepted", "at worst", "evaluated", "at worst", "lost", "doubled", "violated", "different"].map(
          right,
        ),
      ],
      faultRows(strikes),
    ),
    ...missing.map(({ fault, why }) => `not struck: ${fault} (${why})\n`),
    missing.length > 0 ? "\n" : "",
    reportTable(
      style,
      "What else happened",
      [{ title: "" }, right("")],
      [...happened, ...repeated.map(([why, times]): [string, number] => [`repeated because of ${why}`, times])],
    ),
    reportTable(
      style,
      "What was sent, and what is stored",
      [{ title: "" }, right("sent"), right("stored"), { title: "" }],
      figures.map(({ what, sent, stored }) => [what, digits(sent), digits(stored), sent === stored ? "" : "DIFFERENT"]),
    ),
    `${style.heading("Claims about every single row")}\n`,
    ...claims.map(({ claim, counterexamples }) => `${counterexamples.length === 0 ? "yes" : "NO "}  ${claim}\n`),
    "\n",
  ].join("");
}

/** A strike in one line. */
export function strikeLine({ fault, acceptedMs, evaluatedMs, findings }: Strike): string {
  const { lost, doubled, violated, different } = findings;
  const accepted = acceptedMs === null ? "nothing left to send" : `accepted after ${inSeconds(acceptedMs)}`;
  const found = `${lost} lost, ${doubled} doubled, ${violated} violated, ${different} different`;
  return `${fault}: ${accepted}, evaluated after ${inSeconds(evaluatedMs)}; ${found}`;
}

/** One row for each kind, and one for all. */
function faultRows(strikes: readonly Strike[]): (string | number)[][] {
  const kinds = [...new Set(strikes.map(({ fault }) => fault))];
  const rows = kinds.map((kind) =>
    faultRow(
      kind,
      strikes.filter(({ fault }) => fault === kind),
    ),
  );
  return rows.length > 1 ? [...rows, faultRow("all", strikes)] : rows;
}

function faultRow(name: string, strikes: readonly Strike[]): (string | number)[] {
  const accepted = strikes.flatMap(({ acceptedMs }) => acceptedMs ?? []);
  const evaluated = strikes.map(({ evaluatedMs }) => evaluatedMs);
  const sum = (of: (strike: Strike) => number) => strikes.reduce((total, strike) => total + of(strike), 0);
  return [
    name,
    strikes.length,
    ...[median(accepted), Math.max(...accepted), median(evaluated), Math.max(...evaluated)].map(inSeconds),
    sum(({ findings }) => findings.lost),
    sum(({ findings }) => findings.doubled),
    sum(({ findings }) => findings.violated),
    sum(({ findings }) => findings.different),
  ];
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? -Infinity;
}

/** Formats whole numbers with separated thousands; others stay unchanged. */
function digits(value: string): string {
  return /^\d{1,15}$/.test(value) ? figure(Number(value)) : value;
}

function inSeconds(ms: number): string {
  return Number.isFinite(ms) ? `${(ms / 1_000).toFixed(2)} s` : "";
}
