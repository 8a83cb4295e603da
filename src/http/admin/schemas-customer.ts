import Type from "typebox";
import {
  count,
  environmentName,
  exact,
  instant,
  jsonObject,
  listOf,
  mapOf,
  orNull,
  version,
} from "./schemas-common.js";

export const customerId = Type.String({
  description: "The customer's id in the caller's system.",
  examples: ["globex"],
});
const lifecycle = orNull(Type.String(), "The present lifecycle state; null where the model has no lifecycle.");

export const health = exact(
  {
    overall: Type.Number({ minimum: 0, maximum: 100 }),
    components: mapOf(Type.Number({ minimum: 0, maximum: 100 })),
    band: Type.String(),
  },
  { title: "HealthScore", description: "A health score, its components and the band that it lies in." },
);

export const journeyProgress = exact(
  {
    journeyId: Type.String(),
    status: Type.Enum(["active", "complete", "expired"]),
    currentStep: Type.String({ description: "The first step not completed; the last one of all when complete." }),
    stepsData: Type.Object(
      {},
      {
        additionalProperties: exact({
          completedAt: instant,
          triggeredBy: Type.String({
            description: "The id of the event that completed it; `identify` or `timer` where none did.",
          }),
        }),
        description: "The completed steps by id.",
      },
    ),
    startedAt: instant,
    completedAt: orNull(instant),
    expiredAt: orNull(instant),
  },
  { title: "JourneyProgress" },
);

const raisedSignal = exact(
  {
    signalId: Type.String(),
    severity: Type.Enum(["info", "warning", "critical"]),
    message: orNull(Type.String()),
    raisedAt: instant,
  },
  { title: "RaisedSignal" },
);

export const setAside = orNull(
  exact({ at: instant, error: orNull(Type.String()) }, { title: "SetAside" }),
  "When and why evaluation of the customer was given up; null where it goes on.",
);

/** The state document of a customer. */
export const customerState = exact(
  {
    customerId,
    environment: environmentName,
    createdAt: instant,
    lastEventAt: orNull(instant),
    evaluatedThrough: orNull(instant, "The latest instant that the customer was evaluated at."),
    configVersion: orNull(version, "The version that the state was last evaluated under."),
    traits: jsonObject("The present traits."),
    lifecycle,
    lifecycleEnteredAt: orNull(instant),
    segments: Type.Array(Type.String()),
    health: orNull(health),
    journeys: Type.Array(journeyProgress),
    signals: Type.Array(raisedSignal),
    nextDueAt: orNull(instant, "The earliest instant at which something changes without a new operation."),
  },
  { title: "CustomerState" },
);

export const listedCustomer = exact(
  {
    customerId,
    lifecycle,
    lifecycleEnteredAt: orNull(instant),
    segments: Type.Array(Type.String()),
    health: orNull(health),
    journeys: Type.Array(journeyProgress),
    lastEventAt: orNull(instant),
    createdAt: instant,
    setAside,
  },
  { title: "Customer" },
);

export const customerList = listOf(listedCustomer);

export const backlog = exact(
  {
    pending: Type.Integer({ minimum: 0, description: "Operations that wait for evaluation." }),
    ahead: Type.Integer({ minimum: 0, description: "Those of them that occur later than now." }),
    setAside,
  },
  { title: "Backlog" },
);

export const released = exact({ released: count });

/** What brought something about. */
export const cause = exact({
  type: Type.Enum(["event", "identify", "timer", "job"]),
  id: orNull(Type.String(), "Of the event or the job."),
});

export const emission = exact(
  {
    id: Type.String({ examples: ["emi_0000000000000400"] }),
    at: instant,
    type: Type.String({ examples: ["customer.activated"] }),
    source: Type.String({ description: "What emitted it: lifecycle, segment, …", examples: ["lifecycle"] }),
    metadata: jsonObject("Depends on the type."),
    cause,
    configVersion: orNull(version),
  },
  { title: "Emission" },
);

export const timeline = listOf(emission);
