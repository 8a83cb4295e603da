import type { ComponentChildren } from "preact";
import type { BacktestJob, JobDifference, ListPage, Preview, Recompute } from "../../../http/admin/answers.js";
import { historyFields, movesText, totalFields } from "../../../words/recompute.js";
import { formatNumber, span } from "../../../words/text.js";
import { queryParam, type View, type Visit } from "../../console-page.js";
import { Ago, At, Customer, dateTime, FoundList, PageLinks, Section, Text, versionHref } from "../../parts.js";
import { usePresentation } from "../../presentation.js";
import { FactList, Table, type TableColumn } from "../../tables.js";

/** Customers of a job per page. */
const LIMIT = 50;

/** Interval at which the page of a job under way reloads. */
const REFRESH_SECONDS = 5;

/** The parameters for the part of a job's list of customers that the page's query asks for. */
export function partQuery(query: URLSearchParams): { limit: string; cursor: string | undefined } {
  return { limit: String(LIMIT), cursor: queryParam(query, "cursor") };
}

type About = Readonly<Record<string, ComponentChildren>>;

interface JobParts {
  job: Recompute | Preview;
  title: string;
  /** Facts about the job. */
  about: About;
  /** Links and forms for the next step. */
  actions?: View["body"];
  changed: ListPage<JobDifference>;
}

/** The page of a recompute, a dry run or a preview: its progress, the changes, and the customers that they affect. */
export function jobView(path: string, { query }: Pick<Visit, "query">, parts: JobParts): View {
  const { job, title, about, actions, changed } = parts;
  return {
    title,
    customerIds: changed.data.map(({ customerId }) => customerId),
    ...(!query.has("cursor") && refreshOf(job)),
    body: (
      <>
        <JobFacts job={job} about={{ ...about, "As of": <At iso={job.pins.evaluatedAt} /> }} />
        {actions}
        {job.startedAt === null ? null : <Totals job={job} />}
        <Section id="customers" title="Customers, the greatest changes first">
          <FoundList
            list={changed}
            limit={LIMIT}
            none={<p class="note">{isUnderWay(job) ? "None yet." : noneText(job)}</p>}
          >
            <Table name="Customers that change" rows={changed.data} columns={COLUMNS} />
          </FoundList>
          <PageLinks path={path} query={query} next={changed.nextCursor} />
        </Section>
      </>
    ),
  };
}

/** Why the list is empty. A customer of whom only runs of rules go is not listed. */
function noneText({ result: { rulesRemoved } }: Recompute | Preview): string {
  if (rulesRemoved === 0) return "Nothing changes for any customer.";
  return "No customer's state changes, and nothing is emitted: only runs of rules go from the log.";
}

/** Facts about a job, its status and progress, and its error. */
export function JobFacts({ job, about }: { job: Job; about: About }) {
  return (
    <>
      <FactList
        of={{
          ...about,
          Status: <JobStatus job={job} />,
          Requested: <Ago iso={job.requestedAt} by={job.requestedBy} />,
          Done: <JobProgress job={job} />,
        }}
      />
      {job.error === null ? null : (
        <p class="error" role="alert">
          <Text>{job.error}</Text>
        </p>
      )}
    </>
  );
}

/** Makes the browser reload the page of a job while it is under way. */
export function refreshOf(job: Job): Pick<View, "refreshSeconds"> {
  return isUnderWay(job) ? { refreshSeconds: REFRESH_SECONDS } : {};
}

function Totals({ job }: { job: Recompute | Preview }) {
  const { timeZone } = usePresentation();
  return (
    <Section id="totals" title={`What ${job.dry_run ? "would change" : "changed"}${isUnderWay(job) ? " so far" : ""}`}>
      <FactList of={{ ...historyFields(job, (iso) => dateTime(iso, timeZone)), ...totalFields(job) }} />
    </Section>
  );
}

/** The configuration version of a job, if there is one. */
export function JobModel({ job: { pins } }: { job: Recompute | Preview }) {
  const version = pins.configVersion;
  return version === null ? <>none deployed yet</> : <a href={versionHref(version)}>{version}</a>;
}

const COLUMNS: TableColumn<JobDifference>[] = [
  ["Customer", ({ customerId }) => <Customer id={customerId} />],
  ["State", ({ lifecycle }) => <Move {...lifecycle} />],
  ["Health", ({ health }) => <Move before={scoreText(health.before)} after={scoreText(health.after)} />],
  ["Segments", ({ segments }) => <Text>{movesText(segments, "−")}</Text>],
  ["Signals", ({ signals }) => signals && <Text>{movesText(signals, "−")}</Text>],
  [
    "Runs of rules",
    ({ rules, rulesOmitted = 0, rulesRemoved = 0 }) =>
      [signed("+", rules.length + rulesOmitted), signed("−", rulesRemoved)].join(" "),
    "number",
  ],
  ["Emissions", (difference) => <Text>{emissionsText(difference)}</Text>],
];

/** The types of emissions with their counts: `health.band_changed, signal.raised 2`. */
function emissionsText({ emissions, emissionsOmitted = 0 }: JobDifference): string {
  const counts = new Map<string, number>();
  for (const { eventType } of emissions) counts.set(eventType, (counts.get(eventType) ?? 0) + 1);
  const types = [...counts].map(([type, count]) => (count === 1 ? type : `${type} ${formatNumber(count)}`));
  return [...types, ...(emissionsOmitted === 0 ? [] : [`${formatNumber(emissionsOmitted)} more`])].join(", ");
}

const scoreText = (health: JobDifference["health"]["before"]) =>
  health === null ? null : `${formatNumber(health.overall)} ${health.band ?? ""}`.trim();

const signed = (sign: string, count: number) => (count === 0 ? "" : sign + formatNumber(count));

/** A value before and after; nothing if it did not change. */
function Move({ before, after }: { before: string | null; after: string | null }) {
  if (before === after) return null;
  return (
    <>
      <Text>{before ?? "none"}</Text> → <Text>{after ?? "none"}</Text>
    </>
  );
}

/** A recompute, a preview or a backtest. */
export type Job = Recompute | Preview | BacktestJob;

/** Whether the job has not ended yet. */
export function isUnderWay({ status }: Job): boolean {
  return status !== "completed" && status !== "dead_letter";
}

const STATUSES: Readonly<Record<Job["status"], { text: string; class?: string }>> = {
  queued: { text: "waiting for its turn" },
  running: { text: "running" },
  retrying: { text: "failed, will be retried", class: "warning" },
  completed: { text: "completed", class: "good" },
  dead_letter: { text: "ended early", class: "critical" },
};

/** The status of a job, with its duration, or when it is retried. */
export function JobStatus({ job: { status, startedAt, finishedAt, nextAttemptAt } }: { job: Job }) {
  const { text, class: kind } = STATUSES[status];
  return (
    <>
      <span class={kind}>{text}</span>
      {status === "completed" && startedAt !== null && finishedAt !== null
        ? ` in ${span(Date.parse(finishedAt) - Date.parse(startedAt)) ?? "less than a second"}`
        : null}
      {nextAttemptAt === null ? null : (
        <>
          {" "}
          <Ago iso={nextAttemptAt} />
        </>
      )}
    </>
  );
}

/** The number of customers done, and the total if it is known. */
export function JobProgress({ job: { progress, status } }: { job: Job }) {
  const { customersDone: done, customersTotal: total } = progress;
  const text = `${formatNumber(done)}${total === null ? "" : ` of ${formatNumber(total)}`} customers`;
  if (status === "completed" || total === null || total === 0) return <>{text}</>;
  return (
    <>
      <progress max={total} value={done} aria-label={text} /> {text}
    </>
  );
}
