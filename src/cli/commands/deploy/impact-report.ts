import type { RecomputeJob } from "../../client/answers.js";
import { fields } from "../../output/fields.js";
import type { Out } from "../../output/out.js";
import { type Column, table } from "../../output/table.js";
import { number, paragraphs, plural, printable } from "../../output/text.js";
import { statusOf, totalsOf } from "../recompute/job-report.js";
import type { HealthExample, HealthImpact, ImpactDocument, ImpactGroup } from "./impact.js";

/** What a preview came to, for a person at a terminal. @param project its slug */
export function impactInWords(out: Out, project: string, job: RecomputeJob, impact: ImpactDocument): string {
  const { bold } = out.style;
  const parts = [
    `${bold(`Preview ${job.id}`)} of this model for ${job.environment} of ${project}; nothing was deployed.`,
    fields(out, {
      Status: statusOf(out, job),
      "Compared with": job.pins.configVersion ?? "no model: none is deployed",
      "As of": out.at(job.pins.evaluatedAt),
      "Looked at": lookedAt(job),
      ...totalsOf(job),
    }),
  ];
  if (job.result.customersChanged === 0) return [...parts, "No customer would change."].join("\n\n");
  const { emissions, health, journeys, lifecycle, rules, segments } = impact;
  const section = <Row>(rows: readonly Row[], columns: readonly Column<NoInfer<Row>>[]): void => {
    if (rows.length > 0) parts.push(table(out, columns, rows));
  };
  const counted = <Row>(title: string, value: (row: Row) => number) =>
    ({ title, value: (row: Row) => number(value(row)), align: "right", fixed: true }) as const;
  const moved = ({ entered, exited }: ImpactDocument["segments"][number]) =>
    [...signed("+", entered), ...signed("-", exited)].join(", ");
  const group = [
    counted("Customers", ({ customers }: ImpactGroup) => customers),
    { title: "For example", value: ({ examples }: ImpactGroup) => examples.join(", "), optional: true as const },
  ];
  section(segments, [
    { title: "Segment", value: ({ segmentId }) => segmentId, kept: true },
    counted("Enter", ({ entered }) => entered.customers),
    counted("Leave", ({ exited }) => exited.customers),
    { title: "For example", value: moved, optional: true },
  ]);
  section(lifecycle, [
    { title: "Lifecycle", value: ({ from, to }) => `${from ?? "none"} → ${to ?? "none"}`, kept: true },
    ...group,
  ]);
  if (job.result.healthChanged > 0) {
    const shown = health.examples.map((one) => printable(`${one.customerId} ${healthMove(one)}`));
    parts.push(`${bold("Health")} ${healthCounts(health)}\n${shown.join(", ")}`);
  }
  section(journeys, [{ title: "Journey", value: ({ journeyId }) => journeyId, kept: true }, ...group]);
  section(rules, [
    { title: "Rule", value: ({ ruleId }) => ruleId, kept: true },
    { title: "Runs", value: ({ runs }) => runsInWords(runs), kept: true },
    ...group,
  ]);
  section(emissions, [
    { title: "Emission", value: ({ eventType }) => eventType, kept: true },
    counted("Times", (row) => row.emissions),
    ...group,
  ]);
  return paragraphs([...parts, omittedInWords(impact)]);
}

/** `20,000 customers`, `1,012 customers, a sample`. */
export function lookedAt({ progress, sample }: RecomputeJob): string {
  const customers = plural(progress.customersDone, "customer");
  return typeof sample === "number" ? `${customers}, a sample` : customers;
}

const HEALTH_MOVES = {
  rises: "rise",
  falls: "fall",
  shifts: "keep their score while components change",
  gained: "get a score",
  lost: "lose it",
} as const;

/** `12 rise, 30 fall`. */
export function healthCounts(health: HealthImpact): string {
  const moves = Object.keys(HEALTH_MOVES) as (keyof typeof HEALTH_MOVES)[];
  const some = moves.filter((move) => health[move] > 0);
  return some.map((move) => `${number(health[move])} ${HEALTH_MOVES[move]}`).join(", ");
}

/** `81.5 → 40`. */
export function healthMove({ before, after }: HealthExample): string {
  return `${before ?? "none"} → ${after ?? "none"}`;
}

/** `3 pass, 1 error`. */
export function runsInWords(runs: Readonly<Record<string, number>>): string {
  const counts = Object.entries(runs).map(([result, times]) => `${number(times)} ${result}`);
  return counts.join(", ");
}

/** What the tables cannot tell apart; empty where there is none. */
export function omittedInWords({ rulesOmitted, emissionsOmitted }: ImpactDocument): string {
  const parts = [
    ...(rulesOmitted > 0 ? [`${plural(rulesOmitted, "run")} of rules`] : []),
    ...(emissionsOmitted > 0 ? [plural(emissionsOmitted, "emission")] : []),
  ];
  return parts.length === 0 ? "" : `Not in the tables, of customers with more than 1,000: ${parts.join(", ")}.`;
}

function signed(sign: string, { examples: shown }: ImpactGroup): string[] {
  return shown.map((customer) => sign + customer);
}
