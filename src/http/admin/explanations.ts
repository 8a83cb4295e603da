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

/** What is said of the state that is explained. */
const about = {
  customerId,
  asOf: orNull(
    instant,
    "As of when what is measured is told: now; where operations wait, and of the health, through when the state is evaluated. Null before the first evaluation.",
  ),
  configVersion: orNull(versionName, "The version that the state was computed under, and is explained under."),
  activeVersion: orNull(versionName, "The version that is active now."),
  pending: countOf("Operations that wait for their evaluation, up to 10,000."),
  setAside,
  unavailable: orNull(
    exact({ code: Type.Enum(["not_evaluated", "no_health", "evaluation_failed"]), message: Type.String() }),
    "Why there is no explanation; null where there is one.",
  ),
  flipsKnown: Type.Boolean({
    description:
      "False where too much history would have had to be read to tell when conditions flip: flipsAt is null then.",
  }),
};

const presentScore = named(
  "PresentHealthScore",
  "The present score, with when, why and under which version it came about.",
  {
    ...healthScore.properties,
    scoredAt: orNull(instant),
    configVersion: orNull(versionName),
    cause: orNull(cause),
  },
);

/** A condition or a measure: kind, text, expected, actual, met, missing, flipsAt and conditions, as far as it has them. */
const tree = jsonObject("An explanation of conditions: a tree, as the conditions are one.");

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
          score: orNull(Type.Number(), "Null where what it measures is absent and the model leaves the component out."),
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

/** Why a customer stands where it does. */
export const explanationRoutes = [
  // Each component with what it measures, what that is now, and when it changes.
  adminRoute("explain_health", "GET /projects/:project/customers/:customerId/health", {
    summary: "The factors behind the health score of one customer",
    answers: { 200: healthExplanation },
    scarce: true,
    answer: (request) => explanation(request, "health"),
  }),
  // Every part of the model with the conditions that are consulted in its present state.
  adminRoute("explain_customer", "GET /projects/:project/customers/:customerId/explanation", {
    summary: "Why one customer stands where it does, or stood at an instant, condition by condition",
    query: exact({ ...environmentQuery.properties, ...travelQuery }),
    refusals: travelRefusals,
    answers: { 200: customerExplanation },
    scarce: true,
    answer: (request) => (isTravel(request.query) ? travel(request, "explanation") : explanation(request, "customer")),
  }),
];

type ExplanationCall = Pick<AdminCall<typeof environmentQuery, never>, "deps" | "credentials" | "at" | "params">;

/** Reads on one snapshot of the database what a thread explains. */
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
