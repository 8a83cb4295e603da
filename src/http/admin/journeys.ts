import Type from "typebox";
import { adminRoute } from "./route.js";
import { instant, named, orNull } from "./schemas.js";
import { environmentQuery } from "./parameters.js";

const seconds = Type.Number({ minimum: 0 });
const number = Type.Integer({ minimum: 1, description: "Counts from 1 for each customer and journey." });

const steps = Type.Array(
  named("JourneyStepTiming", {
    stepId: Type.String(),
    completedAt: orNull(instant),
    triggeredBy: orNull(Type.String(), "The id of the event that completed it; `identify` or `timer` where none did."),
    secondsFromStart: orNull(seconds),
    secondsFromPrevious: orNull(seconds, "Since the step completed before, or the start."),
  }),
);

const earlierRun = named("JourneyRun", {
  run: number,
  status: Type.Enum(["active", "complete", "expired"]),
  currentStep: Type.String(),
  startedAt: instant,
  completedAt: orNull(instant),
  expiredAt: orNull(instant),
  steps,
});

export const journey = named("Journey", {
  customerId: Type.String(),
  journeyId: Type.String(),
  status: Type.Enum(["not_started", "active", "complete", "expired"]),
  currentStep: orNull(Type.String(), "The first step not completed; the last one of all when complete."),
  currentStepSince: orNull(instant, "When the run came to that step; null unless it is active."),
  secondsOnCurrentStep: orNull(seconds),
  run: orNull(number),
  startedAt: orNull(instant),
  completedAt: orNull(instant),
  expiredAt: orNull(instant),
  steps,
  earlierRuns: Type.Array(earlierRun, { description: "Newest first, at most 100." }),
});

/** A customer's progress in one journey. */
export const journeyRoutes = [
  adminRoute({
    operation: "get_journey",
    route: "GET /projects/:project/customers/:customerId/journeys/:journeyId",
    summary: "A customer's progress in one journey, with the time that its steps took",
    query: environmentQuery,
    answers: { 200: journey },
    passes: ({ at, params }) => [at, params["customerId"]!, params["journeyId"]!],
  }),
];
