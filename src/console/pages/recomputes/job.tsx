import type { ComponentChildren } from "preact";
import type { BacktestJob, JobDifference, ListPage, Preview, Recompute } from "../../../http/admin/answers.js";
import { movesText, totalsOf } from "../../../words/recompute.js";
import { formatNumber, span } from "../../../words/text.js";
import { given, type View, type Visit } from "../../console-page.js";
import { Ago, At, Customer, FoundList, PageLinks, Section, Text, versionHref } from "../../parts.js";
import { FactList, Table, type TableColumn } from "../../tables.js";

/** How many customers of a job a page shows. */
const LIMIT = 50;

/** How often a page is loaded again while its job is under way. */
const REFRESH_SECONDS = 5;

/** Reads of the list of customers that a job changes what the page's query asks for. */
export function partQuery(query: URLSearchParams): { limit: string; cursor: string | undefined } {
  return { limit: String(LIMIT), cursor: given(query, "cursor") };
}

type About = Readonly<Record<string, ComponentChildren>>;

interface JobParts {
  job: Recompute | Preview;
  title: string;
  /** What it is of. */
  about: About;
  /** What can be done with it. */
  actions?: View["body"];
  changed: ListPage<JobDifference>;
}

/** A recompute, a dry run or a preview: how far it came, what it changes, and for whom. */
export function jobView(path: string, { query }: Pick<Visit, "query">, parts: JobParts): View {
  const { job, title, about, actions, changed } = parts;
  return {
    title,
    customerIds: changed.data.map(({ customerId }) => customerId),
    ...(!query.has("cursor") && refreshOf(job)),
    body: (
      <>
        <Course job={job} about={{ ...about, "As of": <At iso={job.pins.evaluatedAt} /> }} />
        {actions}
        {job.startedAt === null ? null : <Totals job={job} />}
        <Section id="customers" title="For whom, the most telling first">
          <FoundList
            list={changed}
            limit={LIMIT}
            none={<p class="note">{isUnderWay(job) ? "Nobody yet." : "Nothing is different for anybody."}</p>}
          >
            <Table name="Customers that change" rows={changed.data} columns={COLUMNS} />
          </FoundList>
          <PageLinks path={path} query={query} next={changed.nextCursor} />
        </Section>
      </>
    ),
  };
}

/** How far a job came, and what went wrong, below what it is of. */
export function Course({ job, about }: { job: Job; about: About }) {
  return (
    <>
      <FactList
        of={{
          ...about,
          Status: <JobStatus job={job} />,
          "Asked for": <Ago iso={job.requestedAt} by={job.requestedBy} />,
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

/** That the browser loads the page of a job again for as long as it is under way. */
export function refreshOf(job: Job): Pick<View, "refreshSeconds"> {
  return isUnderWay(job) ? { refreshSeconds: REFRESH_SECONDS } : {};
}

function Totals({ job }: { job: Recompute | Preview }) {
  return (
    <Section id="totals" title={`What ${job.dry_run ? "would change" : "changed"}${isUnderWay(job) ? " so far" : ""}`}>
      <FactList of={totalsOf(job)} />
    </Section>
  );
}

/** The model of a job, where there is one. */
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

/** `health.band_changed, signal.raised 2`: the types, with how many of each. */
function emissionsText({ emissions, emissionsOmitted = 0 }: JobDifference): string {
  const counts = new Map<string, number>();
  for (const { eventType } of emissions) counts.set(eventType, (counts.get(eventType) ?? 0) + 1);
  const types = [...counts].map(([type, count]) => (count === 1 ? type : `${type} ${formatNumber(count)}`));
  return [...types, ...(emissionsOmitted === 0 ? [] : [`${formatNumber(emissionsOmitted)} more`])].join(", ");
}

const scoreText = (health: JobDifference["health"]["before"]) =>
  health === null ? null : `${formatNumber(health.overall)} ${health.band ?? ""}`.trim();

const signed = (sign: string, count: number) => (count === 0 ? "" : sign + formatNumber(count));

/** What was and what is; nothing where that is the same. */
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

/** Whether it has not come to its end. */
export function isUnderWay({ status }: Job): boolean {
  return status !== "completed" && status !== "dead_letter";
}

const STATUSES: Readonly<Record<Job["status"], { text: string; class?: string }>> = {
  queued: { text: "waits for its turn" },
  running: { text: "is running" },
  retrying: { text: "failed, and is tried again", class: "warning" },
  completed: { text: "completed", class: "good" },
  dead_letter: { text: "given up", class: "critical" },
};

/** How it stands; how long it took, or when it is tried again. */
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

/** Customers that are done; of how many, where that is known. */
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
