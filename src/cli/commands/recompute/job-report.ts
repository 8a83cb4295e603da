import type { JobDifference, RecomputeJob } from "../../client/answers.js";
import { fields } from "../../output/fields.js";
import { entered, exited, healthChanged, journeysChanged } from "../deploy/impact.js";
import { reasonOf } from "./jobs.js";
import type { Out } from "../../output/out.js";
import { type Column, table } from "../../output/table.js";
import { localTime, number, plural, printable, span } from "../../output/text.js";

/** How many customers a person is shown. */
export const SHOWN = 10;

/** A job that has come to something, for people: what it is, its totals, and the customers that change most. */
export function jobInWords(out: Out, job: RecomputeJob, top: readonly JobDifference[]): string {
  const { customersChanged } = job.result;
  const more = customersChanged > top.length ? [`The ${top.length} most telling of ${number(customersChanged)}.`] : [];
  return [
    headingOf(out, job),
    fields(out, [...stateOf(out, job), ...totalsOf(job)]),
    ...(top.length === 0 ? [] : [[differencesTable(out, top), ...more].join("\n")]),
  ].join("\n\n");
}

/** `Recompute rec_1 of all customers in test`. */
function headingOf({ style }: Out, job: RecomputeJob): string {
  const kind = job.dry_run ? "Dry run" : "Recompute";
  const whom = typeof job.customerId === "string" ? `the customer ${printable(job.customerId)}` : "all customers";
  return `${style.bold(`${kind} ${job.id}`)} of ${whom} in ${job.environment}`;
}

/** What changes, line by line; the words are in the future where nothing was written. */
export function totalsOf({ result, dry_run }: RecomputeJob): [string, string][] {
  const would = (done: string, not: string) => (dry_run ? not : done);
  return [
    ["Customers", `${number(result.customersChanged)} ${would("changed", "would change")}`],
    ["Lifecycle", `${plural(result.lifecycleChanged, "customer")} ${would("moved", "would move")}`],
    ["Health", `${plural(result.healthChanged, "customer")} ${would("changed", "would change")}`],
    [
      "Segments",
      `${number(result.segmentsEntered)} ${would("entered", "would enter")}, ` +
        `${number(result.segmentsExited)} ${would("left", "would leave")}`,
    ],
    [
      "Rules",
      `${plural(result.rules, "run")} ${would("added to the log", "would be added to the log")}, ` +
        `${number(result.rulesRemoved)} ${would("went", "would go")}`,
    ],
    ["Emissions", `${number(result.emissions)} ${would("emitted", "would be emitted")}`],
  ];
}

/** Whether it was for one customer who was not there. */
function isOfNobody({ customerId, status, progress }: RecomputeJob): boolean {
  return typeof customerId === "string" && status === "completed" && progress.customersTotal === 0;
}

function stateOf(out: Out, job: RecomputeJob): [string, string][] {
  const { customersTotal, customersDone } = job.progress;
  const of = customersTotal === null ? "" : ` of ${number(customersTotal)}`;
  const attempts = job.attempt > 1 ? [["Attempts", number(job.attempt)] as [string, string]] : [];
  const next: [string, string][] =
    job.nextAttemptAt === null ? [] : [["Tried again", localTime(job.nextAttemptAt, out.timeZone)]];
  const reason = reasonOf(job);
  const error: [string, string][] = reason === null ? [] : [["Error", printable(reason)]];
  return [
    ["Status", statusOf(out, job)],
    ["Model", job.pins.configVersion ?? "none deployed yet"],
    ["As of", localTime(job.pins.evaluatedAt, out.timeZone)],
    [
      "Done",
      isOfNobody(job)
        ? "nothing: there was no such customer when it was queued"
        : `${number(customersDone)}${of} customers`,
    ],
    ...attempts,
    ...next,
    ...error,
  ];
}

/** `completed in 12 seconds`. */
export function statusOf(out: Out, { status, startedAt, finishedAt }: RecomputeJob): string {
  const painted = paintStatus(out, status, status);
  if (status !== "completed" || startedAt === null || finishedAt === null) return painted;
  const took = span(new Date(finishedAt).getTime() - new Date(startedAt).getTime());
  return `${painted} in ${took ?? "less than a second"}`;
}

/** A text in the colour of a status. */
export function paintStatus({ style }: Out, status: RecomputeJob["status"], text: string): string {
  const { cyan, green, red, yellow } = style;
  return { queued: yellow, running: cyan, retrying: yellow, completed: green, dead_letter: red }[status](text);
}

/** Customers before and after. Columns in which nothing changes are left out. */
function differencesTable(out: Out, differences: readonly JobDifference[]): string {
  const columns: Column<JobDifference>[] = [
    { title: "Customer", value: ({ customerId }) => customerId },
    { title: "Lifecycle", value: lifecycleMove, kept: true },
    { title: "Health", value: healthMove, kept: true },
    { title: "Segments", value: segmentMoves, optional: true },
    { title: "Journeys", value: (row) => journeysChanged(row).join(", "), optional: true },
    {
      title: "Rules",
      value: ({ rules, rulesOmitted = 0, rulesRemoved = 0 }) => runs(rules.length + rulesOmitted, rulesRemoved),
      align: "right",
      optional: true,
    },
    {
      title: "Emissions",
      value: ({ emissions, emissionsOmitted = 0 }) => countOf(emissions.length + emissionsOmitted),
      align: "right",
      optional: true,
    },
  ];
  const used = columns.filter((column) => differences.some((difference) => column.value(difference) !== ""));
  return table(out, used, differences);
}

function countOf(amount: number): string {
  return amount === 0 ? "" : number(amount);
}

/** `+12 -3`. */
function runs(added: number, removed: number): string {
  return [...(added > 0 ? [`+${number(added)}`] : []), ...(removed > 0 ? [`-${number(removed)}`] : [])].join(" ");
}

function lifecycleMove({ lifecycle: { before, after } }: JobDifference): string {
  return before === after ? "" : `${before ?? "none"} → ${after ?? "none"}`;
}

/** The overall score; where that stays, the components that change. */
function healthMove(difference: JobDifference): string {
  if (!healthChanged(difference)) return "";
  const { before, after } = difference.health;
  if (before?.overall !== after?.overall) return `${before?.overall ?? "none"} → ${after?.overall ?? "none"}`;
  const ids = new Set([...Object.keys(before?.components ?? {}), ...Object.keys(after?.components ?? {})]);
  return [...ids]
    .filter((id) => before?.components[id] !== after?.components[id])
    .map((id) => `${id} ${before?.components[id] ?? "none"} → ${after?.components[id] ?? "none"}`)
    .join(", ");
}

function segmentMoves(difference: JobDifference): string {
  return [...entered(difference).map((id) => `+${id}`), ...exited(difference).map((id) => `-${id}`)].join(" ");
}
