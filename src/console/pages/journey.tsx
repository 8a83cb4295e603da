import type { JourneyCounts, JourneyTimes } from "../../http/admin/answers.js";
import { ApiError } from "../../http/errors.js";
import { formatNumber, lasted, plural, printable } from "../../words/text.js";
import { type ConsolePage, type View, type Visit } from "../console-page.js";
import { missing } from "../missing.js";
import { Empty, LinkLine, Text } from "../parts.js";
import { refused } from "../list-page.js";
import { type TableColumn, FactList, Figure, Table } from "../tables.js";
import { runsHref, sinceIn, SpanForm } from "./journey-span.js";
import { countsOf } from "./journeys.js";

const PATH = "journey";
/** So many runs tell how long steps take; where there are more, these are of a share of the customers. */
const TIMED_RUNS_MAX = 1000;

/** A journey over all customers: who reached which step, where they stay behind, and how long steps take. */
export const journeyPage: ConsolePage = {
  path: PATH,
  async answer(visit) {
    const { query, model } = visit;
    const journeyId = query.get("id") ?? "";
    const filters = <SpanForm path={PATH} query={query} hidden={{ id: journeyId }} />;
    const found = await countsOf(visit);
    if (found instanceof ApiError) return refused(printable(journeyId), filters, found);
    const journey = found.find((each) => each.journeyId === journeyId);
    if (journey === undefined) return none(journeyId);
    const begun = journey.active + journey.complete + journey.expired;
    const times = begun === 0 ? null : await timesOf(visit, journeyId, begun);
    const isOrdered = model?.journeys.some(({ id, anyOrder }) => id === journeyId && anyOrder !== true) === true;
    return {
      title: printable(journeyId),
      body: (
        <>
          {filters}
          {times === null ? (
            <Empty>Nobody has begun it within this time.</Empty>
          ) : (
            <>
              <Sum journey={journey} query={query} times={times} />
              <Steps journey={journey} query={query} times={times} isOrdered={isOrdered} />
              <p class="hint">
                {isOrdered
                  ? "A run has reached a step when all steps before it are completed."
                  : "Its steps may be completed in any order. A run waits at the first of them that is not."}{" "}
                Times are medians of {times.runs < begun ? `${formatNumber(times.runs)} of the ` : ""}
                {plural(begun, "run")}
                {times.runs < begun ? ", those of customers chosen evenly" : ""}.
              </p>
            </>
          )}
          <LinkLine href="journeys" text="All journeys" />
        </>
      ),
    };
  },
};

function none(journeyId: string): View {
  const says = (
    <p role="alert">
      There is no journey "<Text>{journeyId}</Text>" in the model, and nobody began one within this time.
    </p>
  );
  return missing("No such journey", says, { href: "journeys", text: "All journeys" });
}

function timesOf({ ask, query }: Visit, journeyId: string, begun: number): Promise<JourneyTimes> {
  const share = begun <= TIMED_RUNS_MAX ? undefined : (TIMED_RUNS_MAX / begun).toFixed(9);
  return ask("journeys/:journeyId/times", { journeyId, since: sinceIn(query), share });
}

interface Shown {
  journey: JourneyCounts;
  query: URLSearchParams;
  times: JourneyTimes;
}

/** How many began it, and what became of them. */
function Sum({ journey, query, times: { secondsToComplete } }: Shown) {
  const { journeyId, active, complete, expired } = journey;
  const runs = (count: number, filters?: Record<string, string>) => (
    <Figure href={runsHref(journeyId, query, filters)}>{count}</Figure>
  );
  return (
    <FactList
      of={{
        Begun: runs(active + complete + expired),
        "Under way": runs(active, { status: "active" }),
        Complete: (
          <>
            {runs(complete, { status: "complete" })}
            {secondsToComplete === null ? null : (
              <span class="faint"> in {lasted(secondsToComplete.median)}, as a median</span>
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
  const begun = journey.active + journey.complete + journey.expired;
  // Those that have gone past a step are those that stand or stood at a later one, and those that are complete.
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
    // Of a sample it is no number of a list.
    const completed = hasOrder ? past[index]! : times.runs === begun ? measured : null;
    const share = hasOrder ? reached / begun : measured / times.runs;
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
              {declared ? null : <span class="faint"> not in the model any more</span>}
            </>
          ),
        ],
        ...(isOrdered ? [reached] : []),
        [
          "Share of those that began",
          ({ share, hasOrder }) => (
            <>
              <Bar share={share} />
              <span class="faint">
                {formatNumber(Math.round(share * 100))} % {hasOrder ? "reached it" : "completed it"}
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
        ["Median time", ({ timed }) => (timed === undefined ? "" : lasted(timed.secondsFromPrevious.median)), "number"],
      ]}
    />
  );
}

/** A part of the whole, beside its number. */
function Bar({ share }: { share: number }) {
  return (
    <svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
      <rect class="rest" width="100" height="10" />
      <rect width={share * 100} height="10" />
    </svg>
  );
}
