import Type from "typebox";
import { currentStep, customerId, runNumber, runSpan, runStatus } from "./customers.js";
import { environmentQuery, listQuery, nameFilter, sinceFilter } from "./parameters.js";
import { invalidField } from "../errors.js";
import { adminRoute } from "./route.js";
import { count, countOf, exact, instant, listOf, named, orNull } from "./schemas.js";

const seconds = Type.Number();
export const quartiles = named("Quartiles", { lower: seconds, median: seconds, upper: seconds });

const since = orNull(instant, "The earliest start of the counted runs, as requested; null for all runs.");

export const journeyFunnel = named("JourneyFunnel", "The progress of all customers in a journey.", {
  journeyId: Type.String(),
  since,
  runs: countOf("Runs that started; a customer may have several."),
  customers: countOf("Customers of these runs."),
  active: count,
  complete: count,
  expired: count,
  secondsToComplete: orNull(quartiles, "From the start to the completion; null if no run is complete."),
  steps: Type.Array(
    named("JourneyFunnelStep", {
      stepId: Type.String(),
      declared: Type.Boolean({ description: "Whether the active version has the step." }),
      completed: countOf("Runs that have completed it."),
      active: countOf("Active runs whose current step it is."),
      expired: countOf("Runs that expired at this step."),
      secondsFromPrevious: orNull(
        quartiles,
        "Since the previously completed step, or the start; null if no run has completed it.",
      ),
    }),
    { description: "In the author's order." },
  ),
});

const declared = Type.Boolean({ description: "Whether the active version has it." });

export const journeyCounts = named("JourneyCounts", {
  journeyId: Type.String(),
  declared,
  active: count,
  complete: count,
  expired: count,
  steps: Type.Array(
    named("JourneyStepCounts", {
      stepId: Type.String(),
      declared,
      active: countOf("Active runs whose current step it is."),
      expired: countOf("Runs that expired at this step."),
    }),
  ),
});

const journeys = named("Journeys", "The numbers of runs of all journeys.", {
  since,
  journeys: Type.Array(journeyCounts, { description: "In the author's order, as are the steps of each." }),
});

export const journeyTimes = named("JourneyTimes", "How long a journey takes.", {
  journeyId: Type.String(),
  since,
  runs: countOf("Number of measured runs."),
  secondsToComplete: orNull(quartiles, "From the start to the completion; null if no run is complete."),
  steps: Type.Array(
    named("JourneyStepTimes", {
      stepId: Type.String(),
      completed: countOf("Those of the runs that have completed it."),
      secondsFromPrevious: quartiles,
    }),
  ),
});

export const listedRun = named("ListedJourneyRun", {
  customerId,
  run: runNumber,
  status: runStatus,
  currentStep,
  ...runSpan,
});

/** The share of customers in a query. Throws VALIDATION_ERROR. */
function shareOf(share: string | undefined): number {
  if (share === undefined) return 1;
  const value = Number(share);
  if (/^[01](\.\d{1,9})?$/.test(share) && value > 0 && value <= 1) return value;
  throw invalidField(
    "share",
    share,
    "`share` is not a share.",
    "Write a number above 0 and up to 1, for example 0.05.",
  );
}

/** The progress of all customers in journeys. */
export const journeyFunnelRoutes = [
  adminRoute("get_journeys", "GET /projects/:project/journeys", {
    summary: "Count the active, complete and expired runs of all journeys, by step",
    query: exact({ ...environmentQuery.properties, since: nameFilter }),
    answers: { 200: journeys },
    // Reads all runs.
    scan: true,
    passes: ({ at, query }) => [at, sinceFilter(query.since)],
  }),
  adminRoute("get_journey_funnel", "GET /projects/:project/journeys/:journeyId", {
    summary: "Get the funnel of a journey: completions, drop-offs and durations of its steps",
    query: exact({ ...environmentQuery.properties, since: nameFilter }),
    answers: { 200: journeyFunnel },
    // Reads all runs.
    scan: true,
    passes: ({ at, params, query }) => [at, params["journeyId"]!, sinceFilter(query.since)],
  }),
  adminRoute("get_journey_times", "GET /projects/:project/journeys/:journeyId/times", {
    summary: "Measure how long the steps of a journey take, for all customers or a share of them",
    query: exact({
      ...environmentQuery.properties,
      since: nameFilter,
      share: Type.Optional(
        Type.String({
          maxLength: 11,
          description: "The share of customers to measure, above 0 and up to 1; all by default.",
        }),
      ),
    }),
    answers: { 200: journeyTimes },
    // Reads all runs unless a share is given.
    scan: true,
    passes: ({ at, params, query }) => [at, params["journeyId"]!, sinceFilter(query.since), shareOf(query.share)],
  }),
  adminRoute("search_journey_runs", "GET /projects/:project/journeys/:journeyId/runs", {
    operationId: "listJourneyRuns",
    summary: "List the runs of a journey by customer, filtered",
    query: exact({
      ...listQuery.properties,
      status: Type.Optional(runStatus),
      step: nameFilter,
      completed: nameFilter,
      since: nameFilter,
    }),
    answers: { 200: listOf(listedRun) },
    passes: ({ at, params, query: { status, step, completed, since, ...page } }) => [
      at,
      params["journeyId"]!,
      { status, step, completed },
      sinceFilter(since),
      page,
    ],
  }),
];
