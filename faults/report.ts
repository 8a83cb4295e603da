/** The tables of a run. */
import { figure, table, type Column, type Style } from "../src/demo/report/style.js";
import type { Ledger } from "./ledger.js";
import type { LossyProxy } from "./proxy.js";
import type { Strike } from "./strikes.js";
import type { Verification } from "./verification.js";

export interface Outcome {
  strikes: readonly Strike[];
  verification: Verification;
  ledger: Ledger;
  proxy: LossyProxy;
  /** How the service ended by itself, each time. */
  ends: readonly string[];
}

const right = (title: string): Column => ({ title, align: "right" });

export function report(style: Style, { strikes, verification, ledger, proxy, ends }: Outcome): string {
  const { figures, claims } = verification;
  const repeated = [...ledger.retries].toSorted(([, one], [, other]) => other - one);
  return [
    table(
      style,
      "What was killed, and when something sent afterwards was accepted",
      [{ title: "killed" }, right("after operations"), right("accepted again after")],
      strikes.map(({ fault, after, recoveredMs }) => [
        fault,
        after,
        recoveredMs === null ? "" : inSeconds(recoveredMs),
      ]),
    ),
    table(
      style,
      "What was lost on the way",
      [{ title: "" }, right("")],
      [
        ["answers 202 that were cut off", proxy.cutAccepted],
        ["connections cut before the answer", proxy.cutUnanswered],
        ["single events recognized as repetitions", ledger.duplicates],
        ["ends of the service that nobody asked for", ends.length],
        ...repeated.map(([why, times]): [string, number] => [`repeated because of ${why}`, times]),
      ],
    ),
    table(
      style,
      "What was sent, and what is stored",
      [{ title: "" }, right("sent"), right("stored"), { title: "" }],
      figures.map(({ what, sent, stored }) => [what, digits(sent), digits(stored), sent === stored ? "" : "DIFFERENT"]),
    ),
    `${style.heading("What holds of every single one")}\n`,
    ...claims.map(({ claim, counterexamples }) => `${counterexamples.length === 0 ? "yes" : "NO "}  ${claim}\n`),
    "\n",
  ].join("");
}

/** Whole numbers with their thousands set apart, others as they are. */
function digits(value: string): string {
  return /^\d{1,15}$/.test(value) ? figure(Number(value)) : value;
}

function inSeconds(ms: number): string {
  return `${(ms / 1_000).toFixed(2)} s`;
}
