import type { RecomputeJob } from "../../client/answers.js";
import { fields } from "../../output/fields.js";
import type { ImpactGroup, HealthExample, HealthImpact, ImpactDocument } from "./impact.js";
import { statusOf, totalsOf } from "../recompute/job-report.js";
import type { Out } from "../../output/out.js";
import { type Column, table } from "../../output/table.js";
import { localTime, number, plural, printable } from "../../output/text.js";

/** What a preview came to, for a person at a terminal. @param project its slug */
export function impactInWords(out: Out, project: string, job: RecomputeJob, impact: ImpactDocument): string {
  const { bold } = out.style;
  const parts = [
    `${bold(`Preview ${job.id}`)} of this model for ${job.environment} of ${project}; nothing was deployed.`,
    fields(out, [
      ["Status", statusOf(out, job)],
      ["Compared with", job.pins.configVersion ?? "no model: none is deployed"],
      ["As of", localTime(job.pins.evaluatedAt, out.timeZone)],
      ["Looked at", lookedAt(job)],
      ...totalsOf(job),
    ]),
  ];
  if (job.result.customersChanged === 0) return [...parts, "No customer would change."].join("\n\n");
  const { emissions, journeys, lifecycle, rules, segments } = impact;
  const section = <Row>(rows: readonly Row[], columns: readonly Column<NoInfer<Row>>[]): void => {
    if (rows.length > 0) parts.push(table(out, columns, rows));
  };
  section(segments, [
    { title: "Segment", value: ({ segmentId }) => segmentId, kept: true },
    { title: "Enter", value: ({ entered }) => number(entered.customers), align: "right", fixed: true },
    { title: "Leave", value: ({ exited }) => number(exited.customers), align: "right", fixed: true },
    {
      title: "For example",
      value: ({ entered, exited }) => [...signed("+", entered), ...signed("-", exited)].join(", "),
      optional: true,
    },
  ]);
  section(lifecycle, [
    { title: "Lifecycle", value: ({ from, to }) => `${from ?? "none"} → ${to ?? "none"}`, kept: true },
    { title: "Customers", value: ({ customers }) => number(customers), align: "right", fixed: true },
    { title: "For example", value: examples, optional: true },
  ]);
  if (job.result.healthChanged > 0) {
    parts.push(
      `${bold("Health")} ${healthCounts(impact.health)}\n${healthExamples(impact.health).map(printable).join(", ")}`,
    );
  }
  section(journeys, [
    { title: "Journey", value: ({ journeyId }) => journeyId, kept: true },
    { title: "Customers", value: ({ customers }) => number(customers), align: "right", fixed: true },
    { title: "For example", value: examples, optional: true },
  ]);
  section(rules, [
    { title: "Rule", value: ({ ruleId }) => ruleId, kept: true },
    { title: "Runs", value: ({ runs }) => runsInWords(runs), kept: true },
    { title: "Customers", value: ({ customers }) => number(customers), align: "right", fixed: true },
    { title: "For example", value: examples, optional: true },
  ]);
  section(emissions, [
    { title: "Emission", value: ({ eventType }) => eventType, kept: true },
    { title: "Times", value: (row) => number(row.emissions), align: "right", fixed: true },
    { title: "Customers", value: ({ customers }) => number(customers), align: "right", fixed: true },
    { title: "For example", value: examples, optional: true },
  ]);
  const omitted = omittedInWords(impact);
  if (omitted !== "") parts.push(omitted);
  return parts.join("\n\n");
}

/** `20,000 customers`, `1,012 customers, a sample`. */
export function lookedAt({ progress, sample }: RecomputeJob): string {
  const customers = plural(progress.customersDone, "customer");
  return typeof sample === "number" ? `${customers}, a sample` : customers;
}

/** `12 rise, 30 fall`. */
export function healthCounts({ rises, falls, shifts, gained, lost }: HealthImpact): string {
  const counts: [number, string][] = [
    [rises, "rise"],
    [falls, "fall"],
    [shifts, "keep their score while components change"],
    [gained, "get a score"],
    [lost, "lose it"],
  ];
  return counts
    .filter(([customers]) => customers > 0)
    .map(([customers, what]) => `${number(customers)} ${what}`)
    .join(", ");
}

/** `globex 81.5 → 40`. */
export function healthMove({ before, after }: HealthExample): string {
  return `${before ?? "none"} → ${after ?? "none"}`;
}

/** `3 pass, 1 error`. */
export function runsInWords(runs: Readonly<Record<string, number>>): string {
  return Object.entries(runs)
    .map(([result, times]) => `${number(times)} ${result}`)
    .join(", ");
}

/** What the tables cannot tell apart; empty where there is none. */
export function omittedInWords({ rulesOmitted, emissionsOmitted }: ImpactDocument): string {
  const parts = [
    ...(rulesOmitted > 0 ? [`${plural(rulesOmitted, "run")} of rules`] : []),
    ...(emissionsOmitted > 0 ? [plural(emissionsOmitted, "emission")] : []),
  ];
  return parts.length === 0 ? "" : `Not in the tables, of customers with more than 1,000: ${parts.join(", ")}.`;
}

function healthExamples({ examples: shown }: HealthImpact): string[] {
  return shown.map((example) => `${example.customerId} ${healthMove(example)}`);
}

function examples({ examples: shown }: ImpactGroup): string {
  return shown.join(", ");
}

function signed(sign: string, { examples: shown }: ImpactGroup): string[] {
  return shown.map((customer) => sign + customer);
}
