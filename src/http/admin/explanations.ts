import Type from "typebox";
import {
  beginExplanation,
  type ExplainedPart,
  explanationHistory,
  explanationSnapshot,
} from "../../db/api/customers.js";
import { onSnapshot } from "../../db/transaction.js";
import type { ExplainQuestions } from "./explain-stored.js";
import { environmentQuery, placeIn } from "./parameters.js";
import { type AdminCall, adminRoute, type AdminAnswer } from "./route.js";
import { exact, instant, jsonObject, orNull, version } from "./schemas-common.js";
import { cause, customerId, health, setAside } from "./schemas-customer.js";

/** What is said of the state that is explained. */
const about = {
  customerId,
  asOf: orNull(instant, "Through which the state is evaluated; null before the first evaluation."),
  configVersion: orNull(version, "The version that the state was computed under, and is explained under."),
  activeVersion: orNull(version, "The version that is active now."),
  pending: Type.Integer({ minimum: 0, description: "Operations that wait for their evaluation, up to 10,000." }),
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

const score = exact(
  {
    ...health.properties,
    scoredAt: orNull(instant),
    configVersion: orNull(version),
    cause: orNull(cause),
  },
  {
    title: "PresentHealthScore",
    description: "The present score, with when, why and under which version it came about.",
  },
);

/** A condition or a measure: kind, text, expected, actual, met, missing, flipsAt and conditions, as far as it has them. */
const tree = jsonObject("An explanation of conditions: a tree, as the conditions are one.");

const healthExplanation = exact(
  {
    ...about,
    score: orNull(score),
    factors: orNull(
      exact({
        overall: orNull(Type.Number()),
        band: orNull(Type.String()),
        components: Type.Array(
          exact({ component: Type.String(), weight: Type.Number(), score: Type.Number(), measure: tree }),
        ),
      }),
    ),
  },
  { title: "HealthExplanation" },
);

const customerExplanation = exact(
  {
    ...about,
    lifecycle: orNull(tree),
    journeys: Type.Array(tree),
    segments: Type.Array(tree),
    health: orNull(tree),
    signals: Type.Array(tree),
  },
  { title: "CustomerExplanation" },
);

/** The factors behind the present health score: each component with what it measures, what that is now, and when it changes. */
export const getHealthRoute = adminRoute({
  operation: "explain_health",
  method: "GET",
  path: "/projects/:project/customers/:customerId/health",
  summary: "The factors behind the health score of one customer",
  query: environmentQuery,
  answers: { 200: healthExplanation },
  refusals: { 404: ["CUSTOMER_NOT_FOUND"] },
  scarce: true,
  answer: (call) => explanation(call, "health"),
});

/** Why a customer stands where it does: every part of the model with the conditions that are consulted in its present state. */
export const getExplanationRoute = adminRoute({
  operation: "explain_customer",
  method: "GET",
  path: "/projects/:project/customers/:customerId/explanation",
  summary: "Why one customer stands where it does, condition by condition",
  query: environmentQuery,
  answers: { 200: customerExplanation },
  refusals: { 404: ["CUSTOMER_NOT_FOUND"] },
  scarce: true,
  answer: (call) => explanation(call, "customer"),
});

type ExplanationCall = Pick<AdminCall<typeof environmentQuery, never>, "deps" | "credentials" | "params" | "query">;

/** Reads on one snapshot of the database what a thread explains. */
async function explanation(
  { deps: { work }, credentials, params, query }: ExplanationCall,
  part: ExplainedPart,
): Promise<AdminAnswer> {
  const of = { by: credentials, at: placeIn(params, query.env), customerId: params["customerId"]!, part };
  const explain = () =>
    onSnapshot(work.sql, async (tx) => {
      const stored = await beginExplanation(tx, of);
      const answers: ExplainQuestions & Record<string, (input: never) => Promise<unknown>> = {
        snapshot: (version) => explanationSnapshot(tx, of, version),
        history: ({ requests, pageSize }) => explanationHistory(tx, of, requests, pageSize),
      };
      return work.thread.run("explainStored", { part, stored }, { answers });
    });
  return { status: 200, document: await work.explanations.run(explain, credentials.organizationId) };
}
