import Type, { type TSchema } from "typebox";
import { count, environmentName, exact, instant, jsonObject, listOf, orNull, version } from "./schemas-common.js";
import { hash } from "./schemas-config.js";
import { customerId, journeyProgress } from "./schemas-customer.js";

export const RECOMPUTE_STATUSES = ["queued", "running", "retrying", "completed", "dead_letter"] as const;

const status = Type.Enum([...RECOMPUTE_STATUSES], {
  description: "dead_letter: given up after it failed too often without getting further.",
});

const result = exact(
  {
    lifecycleChanged: Type.Integer({ minimum: 0, description: "Customers whose final lifecycle state changes." }),
    healthChanged: Type.Integer({ minimum: 0, description: "Customers whose final health changes." }),
    segmentsEntered: Type.Integer({ minimum: 0, description: "Memberships that begin." }),
    segmentsExited: Type.Integer({ minimum: 0, description: "Memberships that end." }),
    customersChanged: Type.Integer({
      minimum: 0,
      description: "Customers with a difference, a run of a rule or an emission.",
    }),
    rules: Type.Integer({ minimum: 0, description: "Runs of rules that the log gains." }),
    rulesRemoved: Type.Integer({
      minimum: 0,
      description: "Runs that the log loses. One that only moves in time is lost at one instant and gained at another.",
    }),
    emissions: Type.Integer({ minimum: 0, description: "Corrections and expirations that are emitted." }),
  },
  { title: "RecomputeResult", description: "What came of it so far; it grows while it runs." },
);

const job = {
  pins: exact({
    configVersion: orNull(
      version,
      "The version that is replayed; of a preview, whose replay its own is compared with. Null before the first deploy.",
    ),
    evaluatedAt: instant,
    customersCreatedThrough: instant,
  }),
  attempt: Type.Integer({ minimum: 0, description: "How often a worker took it." }),
  nextAttemptAt: orNull(instant, "While retrying: when it is tried again."),
  error: orNull(Type.String(), "Why it failed last, and what to do."),
  progress: exact({
    customersTotal: orNull(
      count,
      "How many customers there were when it began, and how many were done once it is completed; null before.",
    ),
    customersDone: count,
  }),
  result,
  requestedBy: Type.String({ description: "E-mail address of who asked for it." }),
  requestedAt: instant,
  startedAt: orNull(instant),
  finishedAt: orNull(instant, "When it was completed or given up."),
};

export const recompute = exact(
  {
    id: Type.String({ pattern: "^rec_[0-9a-f]+$", examples: ["rec_5f0c2a9e7b1d4c3a5f0c"] }),
    status,
    dry_run: Type.Boolean({ description: "Whether it only tells what it would change." }),
    environment: environmentName,
    customerId: orNull(Type.String(), "The one customer that it is of; null for all."),
    ...job,
  },
  { title: "Recompute" },
);

export const recomputeList = listOf(recompute);

export const preview = exact(
  {
    id: Type.String({ pattern: "^prv_[0-9a-f]+$", examples: ["prv_5f0c2a9e7b1d4c3a5f0c"] }),
    status,
    dry_run: Type.Literal(true),
    environment: environmentName,
    sample: orNull(Type.Integer({ minimum: 1 }), "About how many customers it looks at; null for all."),
    hash,
    ...job,
  },
  { title: "Preview" },
);

const state = orNull(Type.String(), "Null where there is none.");
const score = orNull(
  exact({ overall: Type.Number(), components: Type.Object({}, { additionalProperties: Type.Number() }) }),
  "Null where there is none.",
);

/** A pair of what was and what is, or would be. */
const beforeAndAfter = <Schema extends TSchema>(schema: Schema) => exact({ before: schema, after: schema });

const difference = exact(
  {
    customerId,
    lifecycle: beforeAndAfter(state),
    health: beforeAndAfter(score),
    segments: beforeAndAfter(Type.Array(Type.String(), { description: "All that the customer is in." })),
    journeys: beforeAndAfter(Type.Array(journeyProgress)),
    rules: Type.Array(
      exact({
        ruleId: Type.String(),
        result: Type.Enum(["pass", "fail", "skip", "error"]),
        triggeredBy: Type.String({ examples: ["event:login"] }),
        conditions: jsonObject("How the condition came out, part by part."),
        action: jsonObject("What the rule does when it passes."),
        executedAt: instant,
      }),
      { maxItems: 1000, description: "Runs that the log gains." },
    ),
    rulesOmitted: Type.Optional(Type.Integer({ minimum: 1, description: "How many more there are." })),
    rulesRemoved: Type.Optional(Type.Integer({ minimum: 1, description: "How many runs the log loses." })),
    emissions: Type.Array(
      exact({
        eventType: Type.String({ examples: ["customer.activated"] }),
        source: Type.String({ examples: ["lifecycle"] }),
        metadata: jsonObject("Depends on the type."),
        timestamp: instant,
      }),
      { maxItems: 1000, description: "Corrections and expirations." },
    ),
    emissionsOmitted: Type.Optional(Type.Integer({ minimum: 1, description: "How many more there are." })),
  },
  { title: "CustomerDifference", description: "A customer before and after." },
);

export const differenceList = listOf(difference);
