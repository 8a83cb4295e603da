import type { JobDifference, RecomputeOrPreview } from "../../../http/admin/answers.js";
import { fields, type Column, table } from "../../output/table.js";
import { componentsChanged, healthChanged, journeysChanged } from "../deploy/impact.js";
import { kindOf, jobFailure, scopeOf } from "./jobs.js";
import type { Out } from "../../output/out.js";
import { historyFields, movesText, totalFields } from "../../../words/recompute.js";
import { formatNumber, printable, span } from "../../../words/text.js";

/** A job with results, for people: its properties, its totals, and the customers that change most. */
export function jobInWords(out: Out, job: RecomputeOrPreview, top: readonly JobDifference[]): string {
  const { customersChanged } = job.result;
  const more =
    customersChanged > top.length ? [`The ${top.length} that change most, of ${formatNumber(customersChanged)}.`] : [];
  return [
    `${out.style.bold(`${kindOf(job)} ${job.id}`)} of ${scopeOf(job)}`,
    fields(out, { ...stateOf(out, job), ...historyFields(job, (iso) => out.at(iso)), ...totalFields(job) }),
    ...(top.length === 0 ? [] : [[differencesTable(out, top), ...more].join("\n")]),
  ].join("\n\n");
}

function stateOf(out: Out, job: RecomputeOrPreview): Record<string, string | undefined> {
  const { customerId, status, attempt, nextAttemptAt, pins } = job;
  const { customersTotal: total, customersDone: done } = job.progress;
  const isUnknownCustomer = typeof customerId === "string" && status === "completed" && total === 0;
  const reason = jobFailure(job);
  return {
    Status: statusOf(out, job),
    Model: pins.configVersion ?? "none deployed yet",
    "As of": out.at(pins.evaluatedAt),
    Done: isUnknownCustomer
      ? "nothing: there was no such customer when it was queued"
      : `${formatNumber(done)}${total === null ? "" : ` of ${formatNumber(total)}`} customers`,
    Attempts: attempt > 1 ? formatNumber(attempt) : undefined,
    "Next attempt": nextAttemptAt === null ? undefined : out.at(nextAttemptAt),
    Error: reason === null ? undefined : printable(reason),
  };
}

/** `completed in 12 seconds`. */
export function statusOf(out: Out, { status, startedAt, finishedAt }: RecomputeOrPreview): string {
  const painted = paintStatus(out, status, status);
  if (status !== "completed" || startedAt === null || finishedAt === null) return painted;
  const took = span(new Date(finishedAt).getTime() - new Date(startedAt).getTime());
  return `${painted} in ${took ?? "less than a second"}`;
}

/** A text in the colour of a status. */
export function paintStatus({ style }: Out, status: RecomputeOrPreview["status"], text: string): string {
  const { cyan, green, red, yellow } = style;
  return { queued: yellow, running: cyan, retrying: yellow, completed: green, dead_letter: red }[status](text);
}

/** Customers before and after. Columns in which nothing changes are left out. */
function differencesTable(out: Out, differences: readonly JobDifference[]): string {
  const signed = (sign: string, count: number) => (count > 0 ? [`${sign}${formatNumber(count)}`] : []);
  const move = ({ lifecycle: { before, after } }: JobDifference) =>
    before === after ? "" : `${before ?? "none"} → ${after ?? "none"}`;
  /** `+12 -3`. */
  const ran = ({ rules, rulesOmitted = 0, rulesRemoved = 0 }: JobDifference) =>
    [...signed("+", rules.length + rulesOmitted), ...signed("-", rulesRemoved)].join(" ");
  const emitted = ({ emissions, emissionsOmitted = 0 }: JobDifference) =>
    signed("", emissions.length + emissionsOmitted).join("");
  const columns: Column<JobDifference>[] = [
    { title: "Customer", value: ({ customerId }) => customerId },
    { title: "Lifecycle", value: move, kept: true },
    { title: "Health", value: healthMove, kept: true },
    { title: "Segments", value: ({ segments }) => movesText(segments, "-"), optional: true },
    { title: "Signals", value: ({ signals }) => (signals ? movesText(signals, "-") : ""), optional: true },
    { title: "Journeys", value: (row) => journeysChanged(row).join(", "), optional: true },
    { title: "Rules", value: ran, align: "right", optional: true },
    { title: "Emissions", value: emitted, align: "right", optional: true },
  ];
  const used = columns.filter((column) => differences.some((difference) => column.value(difference) !== ""));
  return table(out, used, differences);
}

/** `41 → 36.5`, with the bands if they differ: `44.75 at_risk → 44.75 critical`. */
function bandMove(before: Score, after: Score): string {
  const isSame = before === null || after === null || before.band === after.band;
  const text = (score: Score) =>
    score === null ? "none" : `${score.overall}${isSame || score.band === undefined ? "" : ` ${score.band}`}`;
  return `${text(before)} → ${text(after)}`;
}

type Score = JobDifference["health"]["before"];

/** The change of the overall score or its band; if both stay, that of the components. */
function healthMove(difference: JobDifference): string {
  if (!healthChanged(difference)) return "";
  const { before, after } = difference.health;
  if (before?.overall !== after?.overall || before?.band !== after?.band) return bandMove(before, after);
  return componentsChanged(difference)
    .map((id) => `${id} ${before?.components[id] ?? "none"} → ${after?.components[id] ?? "none"}`)
    .join(", ");
}
