import type { JourneyCounts, JourneyTimes } from "../../http/admin/answers.js";
import { ApiError } from "../../http/errors.js";
import { formatNumber, percent, secondsInWords, plural, printable } from "../../words/text.js";
import { type ConsolePage, expectedRefusal, queryParam, type View, type Visit } from "../console-page.js";
import { address, Empty, LinkLine, Text, TextLink } from "../parts.js";
import { refused, missing } from "../list-page.js";
import { FactList, Figure, Table, type TableColumn } from "../tables.js";
import { HiddenFields, OneOf } from "../forms.js";

const LIST = "journeys";
const ENTRY = "journey";

/** The number of customers that started each journey, and how their runs ended. */
export const journeysPage: ConsolePage = {
  path: LIST,
  section: "Journeys",
  async answer(visit) {
    const { query, model } = visit;
    const filters = <SpanForm path={LIST} query={query} />;
    const found = await countsOf(visit);
    if (found instanceof ApiError) return refused("Journeys", filters, found);
    return {
      title: "Journeys",
      derived: "journeys",
      body: (
        <>
          {filters}
          {found.length === 0 ? (
            <Empty>
              {model === null
                ? "No model is deployed yet. Its journeys will be shown here."
                : "The model has no journeys. Once it declares one, customers are counted at each of its steps here."}
            </Empty>
          ) : (
            <Table name="Journeys" rows={found} columns={columnsOf(query)} />
          )}
          {found.length === 0 ? null : (
            <p class="hint">
              The completion rate counts only runs that have ended. While more are under way there is none: runs
              complete sooner than they expire.
            </p>
          )}
        </>
      ),
    };
  },
};

/** Counts of the runs that started within the query's span, or the error for an invalid span. */
async function countsOf({ ask, query }: Visit): Promise<JourneyCounts[] | ApiError> {
  const found = await ask("journeys", { since: sinceIn(query) }).catch(expectedRefusal);
  return found instanceof ApiError ? found : found.journeys;
}

const STATUSES = [
  ["active", "Under way"],
  ["complete", "Complete"],
  ["expired", "Expired"],
] as const;

const columnsOf = (query: URLSearchParams): TableColumn<JourneyCounts>[] => [
  ["Journey", (journey) => <Name of={journey} query={query} />],
  ["Started", (journey) => <Figure href={runsHref(journey.journeyId, query)}>{startedOf(journey)}</Figure>, "number"],
  ...STATUSES.map(([status, heading]): TableColumn<JourneyCounts> => [
    heading,
    (journey) => <Figure href={runsHref(journey.journeyId, query, { status })}>{journey[status]}</Figure>,
    "number",
  ]),
  [
    "Completion rate",
    ({ active, complete, expired }) => (active > complete + expired ? "" : rate(complete, complete + expired)),
    "number",
  ],
];

const startedOf = ({ active, complete, expired }: JourneyCounts) => active + complete + expired;

const rate = (part: number, whole: number) => (whole === 0 ? "" : percent(part / whole));

function Name({ of: { journeyId, declared }, query }: { of: JourneyCounts; query: URLSearchParams }) {
  return (
    <>
      <TextLink href={address(ENTRY, { id: journeyId, since: spanIn(query) })} text={journeyId} />
      {declared ? null : <span class="faint"> no longer in the model</span>}
    </>
  );
}

/** The most runs from which durations are computed, which takes some 30 ms; of more, those of a share of the customers are used. */
const TIMED_RUNS_MAX = 2000;

/** A journey over all customers: how many reached each step, where they wait or expired, and how long steps take. */
export const journeyPage: ConsolePage = {
  path: ENTRY,
  async answer(visit) {
    const { query, model } = visit;
    const journeyId = query.get("id") ?? "";
    const filters = <SpanForm path={ENTRY} query={query} hidden={{ id: journeyId }} />;
    const found = await countsOf(visit);
    if (found instanceof ApiError) return refused(printable(journeyId), filters, found);
    const journey = found.find((each) => each.journeyId === journeyId);
    if (journey === undefined) return none(journeyId);
    const started = startedOf(journey);
    const times = started === 0 ? null : await timesOf(visit, journeyId, started);
    const isOrdered = model?.journeys.some(({ id, anyOrder }) => id === journeyId && anyOrder !== true) === true;
    return {
      title: printable(journeyId),
      derived: "journeys",
      body: (
        <>
          {filters}
          {times === null ? (
            <Empty>No customer started it within this time.</Empty>
          ) : (
            <>
              <Sum journey={journey} query={query} times={times} />
              <Steps journey={journey} query={query} times={times} isOrdered={isOrdered} />
              <p class="hint">
                {isOrdered
                  ? "A run has reached a step when all steps before it are completed."
                  : "Its steps may be completed in any order. A run waits at the first step that is not completed."}{" "}
                {isSample({ journey, times }) ? (
                  <>
                    Times are medians of {formatNumber(times.runs)} of the {plural(started, "run")}, those of an even
                    sample of customers. <code>svc journeys funnel</code> measures all.
                  </>
                ) : (
                  `Times are medians of ${plural(started, "run")}.`
                )}
              </p>
            </>
          )}
          <LinkLine href={LIST} text="All journeys" />
        </>
      ),
    };
  },
};

function none(journeyId: string): View {
  const says = (
    <p role="alert">
      There is no journey "<Text>{journeyId}</Text>" in the model, and no customer started one within this time.
    </p>
  );
  return missing("No such journey", says, { href: LIST, text: "All journeys" });
}

function timesOf({ ask, query }: Visit, journeyId: string, started: number): Promise<JourneyTimes> {
  const share = started <= TIMED_RUNS_MAX ? undefined : (TIMED_RUNS_MAX / started).toFixed(9);
  return ask("journeys/:journeyId/times", { journeyId, since: sinceIn(query), share });
}

interface Shown {
  journey: JourneyCounts;
  query: URLSearchParams;
  times: JourneyTimes;
}

type Timed = Pick<Shown, "journey" | "times">;

/** Whether not all runs were timed. */
function isSample({ journey, times }: Timed): boolean {
  return times.runs < startedOf(journey);
}

/** A median in words, with "about" if it is of a sample. */
function medianOf({ median }: { median: number }, timed: Timed): string {
  return `${isSample(timed) ? "about " : ""}${secondsInWords(median)}`;
}

/** The number of runs, in all and by status. */
function Sum({ journey, query, times }: Shown) {
  const { secondsToComplete } = times;
  const { journeyId, active, complete, expired } = journey;
  const runs = (count: number, filters?: Record<string, string>) => (
    <Figure href={runsHref(journeyId, query, filters)}>{count}</Figure>
  );
  return (
    <FactList
      of={{
        Started: runs(startedOf(journey)),
        "Under way": runs(active, { status: "active" }),
        Complete: (
          <>
            {runs(complete, { status: "complete" })}
            {secondsToComplete === null ? null : (
              <span class="faint"> in {medianOf(secondsToComplete, { journey, times })} (median)</span>
            )}
          </>
        ),
        Expired: runs(expired, { status: "expired" }),
      }}
    />
  );
}

function Steps({ journey, query, times, isOrdered }: Shown & { isOrdered: boolean }) {
  const { journeyId, steps } = journey;
  const started = startedOf(journey);
  // Runs that have passed a step are those that wait or expired at a later one, and complete ones.
  const past = steps.map((_, index) =>
    steps
      .slice(index + 1)
      .reduce((sum, { declared, active, expired }) => sum + (declared ? active + expired : 0), journey.complete),
  );
  const rows = steps.map((step, index) => {
    const timed = times.steps.find(({ stepId }) => stepId === step.stepId);
    const hasOrder = isOrdered && step.declared;
    const reached = past[index]! + step.active + step.expired;
    const measured = timed?.completed ?? 0;
    // A count from a sample would not match the list that it links to. One of runs that have passed the step includes those that were
    // complete before a deploy added it.
    const completed = times.runs === started ? measured : hasOrder ? past[index]! : null;
    // Of few customers with many runs, the sample may have none.
    const share = hasOrder ? reached / started : times.runs === 0 ? null : measured / times.runs;
    return { ...step, timed, hasOrder, reached, completed, share };
  });
  const runs = (count: number, filters: Record<string, string>) => (
    <Figure href={runsHref(journeyId, query, filters)}>{count}</Figure>
  );
  const reached: TableColumn<(typeof rows)[number]> = [
    "Reached",
    (step) => (step.hasOrder ? formatNumber(step.reached) : ""),
    "number",
  ];
  return (
    <Table
      name="Steps"
      rows={rows}
      columns={[
        [
          "Step",
          ({ stepId, declared }) => (
            <>
              <Text>{stepId}</Text>
              {declared ? null : <span class="faint"> no longer in the model</span>}
            </>
          ),
        ],
        ...(isOrdered ? [reached] : []),
        [
          "Share of runs started",
          ({ share, hasOrder }) =>
            share === null ? (
              ""
            ) : (
              <>
                <Bar share={share} />
                <span class="faint">
                  {percent(share)} {hasOrder ? "reached it" : "completed it"}
                </span>
              </>
            ),
        ],
        [
          "Completed",
          ({ stepId, completed }) => (completed === null ? null : runs(completed, { completed: stepId })),
          "number",
        ],
        ["Waiting here", ({ stepId, active }) => runs(active, { status: "active", step: stepId }), "number"],
        ["Expired here", ({ stepId, expired }) => runs(expired, { status: "expired", step: stepId }), "number"],
        [
          "Median time",
          ({ timed }) => (timed === undefined ? "" : medianOf(timed.secondsFromPrevious, { journey, times })),
          "number",
        ],
      ]}
    />
  );
}

/** A share as a bar. */
function Bar({ share }: { share: number }) {
  return (
    <svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
      <rect class="rest" width="100" height="10" />
      <rect width={share * 100} height="10" />
    </svg>
  );
}

/** Choices for when the counted runs started. */
const SPANS = [
  { value: "30d", text: "30 days" },
  { value: "90d", text: "90 days" },
  { value: "365d", text: "a year" },
  { value: "all", text: "any time" },
];

const DEFAULT_SPAN = "90d";

export function spanIn(query: URLSearchParams): string {
  return queryParam(query, "since") ?? DEFAULT_SPAN;
}

/** The span as the API expects it. */
export function sinceIn(query: URLSearchParams): string | undefined {
  const span = spanIn(query);
  return span === "all" ? undefined : span;
}

/** The form that chooses the span; `hidden` is the rest of the page's query. */
function SpanForm(props: { path: string; query: URLSearchParams; hidden?: Readonly<Record<string, string>> }) {
  const { path, query, hidden } = props;
  const span = spanIn(query);
  const isKnown = SPANS.some(({ value }) => value === span);
  return (
    <form class="filters" action={path} method="get">
      <HiddenFields of={hidden} />
      <OneOf label="Started within" name="since" value={span} choices={isKnown ? SPANS : [...SPANS, span]} />
      <button>Show</button>
    </form>
  );
}

/** The address of the list of a journey's runs in the same span. */
function runsHref(journeyId: string, query: URLSearchParams, filters: Readonly<Record<string, string>> = {}): string {
  return address("journey-runs", { id: journeyId, ...filters, since: spanIn(query) });
}
