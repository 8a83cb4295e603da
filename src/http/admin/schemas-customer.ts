import Type from "typebox";
import {
  count,
  environment,
  exact,
  instant,
  jsonObject,
  mapOf,
  named,
  orNull,
  describedText,
  versionName,
} from "./schemas.js";

export const customerId = describedText("The customer's id in the caller's system.", "globex");
const lifecycle = orNull(Type.String(), "The present lifecycle state; null where the model has no lifecycle.");

export const healthScore = named("HealthScore", "A health score, its components and the band that it lies in.", {
  overall: Type.Number({ minimum: 0, maximum: 100 }),
  components: mapOf(Type.Number({ minimum: 0, maximum: 100 })),
  band: Type.String(),
});

export const journeyRun = named("JourneyProgress", {
  journeyId: Type.String(),
  status: Type.Enum(["active", "complete", "expired"]),
  currentStep: Type.String({ description: "The first step not completed; the last one of all when complete." }),
  stepsData: Type.Object(
    {},
    {
      additionalProperties: exact({
        completedAt: instant,
        triggeredBy: describedText("The id of the event that completed it; `identify` or `timer` where none did."),
      }),
      description: "The completed steps by id.",
    },
  ),
  startedAt: instant,
  completedAt: orNull(instant),
  expiredAt: orNull(instant),
});

const raisedSignal = named("RaisedSignal", {
  signalId: Type.String(),
  severity: Type.Enum(["info", "warning", "critical"]),
  message: orNull(Type.String()),
  raisedAt: instant,
});

export const setAside = orNull(
  named("SetAside", { at: instant, error: orNull(Type.String()) }),
  "When and why evaluation of the customer was given up; null where it goes on.",
);

export const customerState = named("CustomerState", {
  customerId,
  environment,
  createdAt: instant,
  lastEventAt: orNull(instant),
  evaluatedThrough: orNull(instant, "The latest instant that the customer was evaluated at."),
  configVersion: orNull(versionName, "The version that the state was last evaluated under."),
  traits: jsonObject("The present traits."),
  lifecycle,
  lifecycleEnteredAt: orNull(instant),
  segments: Type.Array(Type.String()),
  health: orNull(healthScore),
  journeys: Type.Array(journeyRun),
  signals: Type.Array(raisedSignal),
  nextDueAt: orNull(instant, "The earliest instant at which something changes without a new operation."),
});

export const listedCustomer = named("Customer", {
  customerId,
  lifecycle,
  lifecycleEnteredAt: orNull(instant),
  segments: Type.Array(Type.String()),
  health: orNull(healthScore),
  journeys: Type.Array(journeyRun),
  lastEventAt: orNull(instant),
  createdAt: instant,
  setAside,
});

export const backlog = named("Backlog", {
  pending: Type.Integer({ minimum: 0, description: "Operations that wait for evaluation." }),
  ahead: Type.Integer({ minimum: 0, description: "Those of them that occur later than now." }),
  setAside,
});

export const released = exact({ released: count });

export const cause = exact({
  type: Type.Enum(["event", "identify", "timer", "job"]),
  id: orNull(Type.String(), "Of the event or the job."),
});

export const source = describedText("What emitted it: lifecycle, segment, …", "lifecycle");

export const emission = named("Emission", {
  id: Type.String({ examples: ["emi_0000000000000400"] }),
  at: instant,
  type: Type.String({ examples: ["customer.activated"] }),
  source,
  metadata: jsonObject("Depends on the type."),
  cause,
  configVersion: orNull(versionName),
});
