import Type from "typebox";
import { customerId } from "./customers.js";
import { environmentQuery, listQuery, nameFilter, sinceFilter } from "./parameters.js";
import { invalidField } from "../errors.js";
import { adminRoute } from "./route.js";
import { count, countOf, exact, instant, listOf, named, orNull } from "./schemas.js";

const seconds = Type.Number();
export const quartiles = named("Quartiles", { lower: seconds, median: seconds, upper: seconds });

const since = orNull(instant, "Of the runs that are counted, the earliest start that was asked for; null for all.");

export const journeyFunnel = named("JourneyFunnel", "A journey over all customers.", {
  journeyId: Type.String(),
  since,
  runs: countOf("Runs that started; a customer may have several."),
  customers: countOf("Customers whose they are."),
  active: count,
  complete: count,
  expired: count,
  secondsToComplete: orNull(quartiles, "From the start to the completion; null where no run is complete."),
  steps: Type.Array(
    named("JourneyFunnelStep", {
      stepId: Type.String(),
      declared: Type.Boolean({ description: "Whether the active version has the step." }),
      completed: countOf("Runs that have completed it."),
      active: countOf("Runs that stand at it."),
      expired: countOf("Runs that stood at it when their time was over."),
      secondsFromPrevious: orNull(
        quartiles,
        "Since the step completed before it, or the start; null where none has completed it.",
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
      active: countOf("Runs that stand at it."),
      expired: countOf("Runs that stood at it when their time was over."),
    }),
  ),
});

const journeys = named("Journeys", "All journeys over all customers, by counts alone.", {
  since,
  journeys: Type.Array(journeyCounts, { description: "In the author's order, as are the steps of each." }),
});

export const journeyTimes = named("JourneyTimes", "How long a journey takes.", {
  journeyId: Type.String(),
  since,
  runs: countOf("Runs that were looked at."),
  secondsToComplete: orNull(quartiles, "From the start to the completion; null where no run is complete."),
  steps: Type.Array(
    named("JourneyStepTimes", {
      stepId: Type.String(),
      completed: countOf("Runs of those that have completed it."),
      secondsFromPrevious: quartiles,
    }),
  ),
});

const status = Type.Enum(["active", "complete", "expired"]);

export const listedRun = named("ListedJourneyRun", {
  customerId,
  run: Type.Integer({ minimum: 1, description: "Counts from 1 for each customer and journey." }),
  status,
  currentStep: Type.String({ description: "The first step not completed; the last one of all when complete." }),
  startedAt: instant,
  completedAt: orNull(instant),
  expiredAt: orNull(instant),
});

/** The share of customers that a query names. Throws VALIDATION_ERROR. */
function shareOf(share: string | undefined): number {
  if (share === undefined) return 1;
  const value = Number(share);
  if (/^[01](\.\d{1,9})?$/.test(share) && value > 0 && value <= 1) return value;
  throw invalidField("share", share, "`share` is no part of the whole.", "Write a number above 0 and up to 1: 0.05.");
}

/** Journeys, over all customers. */
export const journeyFunnelRoutes = [
  adminRoute("get_journeys", "GET /projects/:project/journeys", {
    summary: "All journeys over all customers: runs under way, complete and expired, and at which steps",
    query: exact({ ...environmentQuery.properties, since: nameFilter }),
    answers: { 200: journeys },
    passes: ({ at, query }) => [at, sinceFilter(query.since)],
  }),
  adminRoute("get_journey_funnel", "GET /projects/:project/journeys/:journeyId", {
    summary: "A journey over all customers: its steps, who dropped off, and how long they took",
    query: exact({ ...environmentQuery.properties, since: nameFilter }),
    answers: { 200: journeyFunnel },
    // It reads all runs.
    scarce: true,
    passes: ({ at, params, query }) => [at, params["journeyId"]!, sinceFilter(query.since)],
  }),
  adminRoute("get_journey_times", "GET /projects/:project/journeys/:journeyId/times", {
    summary: "How long the steps of a journey take, by the runs of all customers or of a share of them",
    query: exact({
      ...environmentQuery.properties,
      since: nameFilter,
      share: Type.Optional(
        Type.String({
          maxLength: 11,
          description: "Of the customers that are looked at, above 0 and up to 1; all unless given.",
        }),
      ),
    }),
    answers: { 200: journeyTimes },
    passes: ({ at, params, query }) => [at, params["journeyId"]!, sinceFilter(query.since), shareOf(query.share)],
  }),
  adminRoute("search_journey_runs", "GET /projects/:project/journeys/:journeyId/runs", {
    operationId: "listJourneyRuns",
    summary: "Runs of a journey by customer, filtered",
    query: exact({
      ...listQuery.properties,
      status: Type.Optional(status),
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
