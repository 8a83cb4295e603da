import Type from "typebox";
import { call } from "../../db/api/call.js";
import { type ExplainedPart, explanationHistory } from "../../db/api/customers.js";
import { onSnapshot } from "../../db/transaction.js";
import type { ExplainQuestions } from "./explain-stored.js";
import { type AdminCall, adminRoute } from "./route.js";
import { countOf, exact, instant, jsonObject, named, orNull, versionName } from "./schemas.js";
import { environmentQuery } from "./parameters.js";
import { isTravel, travel, travelAnswer, travelQuery, travelRefusals } from "./time-travel.js";
import { cause, customerId, healthScore, setAside } from "./customers.js";

/** Members that describe the explained state. */
const about = {
  customerId,
  asOf: orNull(
    instant,
    "The instant that measures refer to: now; for health, and while operations wait, the instant up to which the state is evaluated. Null before the first evaluation.",
  ),
  configVersion: orNull(versionName, "The version with which the state was computed and is explained."),
  activeVersion: orNull(versionName, "The version that is active now."),
  pending: countOf("Operations that wait for evaluation, counted up to 10,000."),
  setAside,
  unavailable: orNull(
    exact({ code: Type.Enum(["not_evaluated", "no_health", "evaluation_failed"]), message: Type.String() }),
    "Why there is no explanation; null if there is one.",
  ),
  flipsKnown: Type.Boolean({
    description:
      "False if determining when conditions flip would require reading too much history; `flipsAt` is then null.",
  }),
};

const presentScore = named(
  "PresentHealthScore",
  "The present score, with the time, cause and version of its last change.",
  {
    ...healthScore.properties,
    scoredAt: orNull(instant),
    configVersion: orNull(versionName),
    cause: orNull(cause),
  },
);

/** A condition or a measure, with those of kind, text, expected, actual, met, missing, flipsAt and conditions that apply to it. */
const tree = jsonObject("A tree that explains the conditions one by one.");

export const healthExplanation = named("HealthExplanation", {
  ...about,
  score: orNull(presentScore),
  factors: orNull(
    exact({
      overall: orNull(Type.Number()),
      band: orNull(Type.String()),
      components: Type.Array(
        exact({
          component: Type.String(),
          weight: Type.Number(),
          score: orNull(Type.Number(), "Null if the measured value is absent and the model leaves the component out."),
          measure: tree,
        }),
      ),
    }),
  ),
});

export const customerExplanation = named("CustomerExplanation", {
  ...about,
  ...travelAnswer,
  lifecycle: orNull(tree),
  journeys: Type.Array(tree),
  segments: Type.Array(tree),
  health: orNull(tree),
  signals: Type.Array(tree),
});

/** Explanations of a customer's state. */
export const explanationRoutes = [
  // Each component with its measure, the present value, and when it changes.
  adminRoute("explain_health", "GET /projects/:project/customers/:customerId/health", {
    summary: "Explain the health score of one customer by its factors",
    answers: { 200: healthExplanation },
    scarce: true,
    answer: (request) => explanation(request, "health"),
  }),
  // Every part of the model with the conditions that are evaluated in its present state.
  adminRoute("explain_customer", "GET /projects/:project/customers/:customerId/explanation", {
    summary: "Explain the state of one customer, now or at an instant, condition by condition",
    query: exact({ ...environmentQuery.properties, ...travelQuery }),
    refusals: travelRefusals,
    answers: { 200: customerExplanation },
    scarce: true,
    answer: (request) => (isTravel(request.query) ? travel(request, "explanation") : explanation(request, "customer")),
  }),
];

type ExplanationCall = Pick<AdminCall<typeof environmentQuery, never>, "deps" | "credentials" | "at" | "params">;

/** Reads the data in one snapshot of the database, and computes the explanation in the thread. */
function explanation({ deps: { work }, credentials: by, at, params }: ExplanationCall, part: ExplainedPart) {
  const customerId = params["customerId"]!;
  const explain = () =>
    onSnapshot(work.sql, async (tx) => {
      const stored = await call(tx, "begin_explanation", by, at, customerId, part);
      const answers: ExplainQuestions & Record<string, (input: never) => Promise<unknown>> = {
        snapshot: (version) => call(tx, "explanation_snapshot", by, at, version, part),
        history: ({ request, pageSize }) => explanationHistory(tx, { by, at, customerId, part }, request, pageSize),
      };
      return work.thread.run("explainStored", { part, stored }, { answers });
    });
  return work.explanations.run(explain, by.organizationId);
}
