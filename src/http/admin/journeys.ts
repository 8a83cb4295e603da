import Type from "typebox";
import { environmentQuery, nameFilter, sinceFilter } from "./parameters.js";
import { adminRoute } from "./route.js";
import { count, countOf, exact, instant, named, orNull } from "./schemas.js";

const seconds = Type.Number();
export const quartiles = named("Quartiles", { lower: seconds, median: seconds, upper: seconds });

export const journeyFunnel = named("JourneyFunnel", "A journey over all customers.", {
  journeyId: Type.String(),
  since: orNull(instant, "Of the runs that are counted, the earliest start that was asked for; null for all."),
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

/** Journeys, over all customers. */
export const journeyFunnelRoutes = [
  adminRoute("get_journey_funnel", "GET /projects/:project/journeys/:journeyId", {
    summary: "A journey over all customers: its steps, who dropped off, and how long they took",
    query: exact({ ...environmentQuery.properties, since: nameFilter }),
    answers: { 200: journeyFunnel },
    // It reads all runs.
    scarce: true,
    answer: ({ call, at, params, query }) =>
      call("get_journey_funnel", at, params["journeyId"]!, sinceFilter(query.since)),
  }),
];
