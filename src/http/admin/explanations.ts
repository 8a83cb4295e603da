import type { StoredForExplanation } from "../../db/calls-explanation.js";
import { explain, explainHealth } from "../../engine/index.js";
import { explainStored, noHealth, type ExplainedState } from "./explain-stored.js";
import { environmentQuery, placeIn } from "./parameters.js";
import { adminRoute } from "./route.js";
import { customerExplanation, healthExplanation } from "./schemas-explanation.js";

/** The factors behind the present health score: each component with what it measures, what that is now, and when it changes. */
export const getHealth = adminRoute({
  operation: "explain_health",
  method: "GET",
  path: "/projects/:project/customers/:customerId/health",
  summary: "The factors behind the health score of one customer",
  query: environmentQuery,
  answers: { 200: healthExplanation },
  refusals: { 404: ["CUSTOMER_NOT_FOUND"] },
  scarce: true,
  answer: async ({ deps, credentials, params, query }) => {
    const at = placeIn(params, query.env);
    const of = { by: credentials, at, customerId: params["customerId"]!, part: "health" as const };
    const state = await explainStored(deps.work, of, explainHealth);
    const { stored, answer } = state;
    const unavailable = state.unavailable ?? (answer === null ? noHealth(stored) : null);
    return {
      status: 200,
      document: { ...aboutState({ ...state, unavailable }), score: stored.score, factors: answer },
    };
  },
});

/** Why a customer stands where it does: every part of the model with the conditions that are consulted in its present state. */
export const getExplanation = adminRoute({
  operation: "explain_customer",
  method: "GET",
  path: "/projects/:project/customers/:customerId/explanation",
  summary: "Why one customer stands where it does, condition by condition",
  query: environmentQuery,
  answers: { 200: customerExplanation },
  refusals: { 404: ["CUSTOMER_NOT_FOUND"] },
  scarce: true,
  answer: async ({ deps, credentials, params, query }) => {
    const at = placeIn(params, query.env);
    const of = { by: credentials, at, customerId: params["customerId"]!, part: "customer" as const };
    const state = await explainStored(deps.work, of, explain);
    const nothing = { lifecycle: null, journeys: [], segments: [], health: null, signals: [] };
    return { status: 200, document: { ...aboutState(state), ...(state.answer ?? nothing) } };
  },
});

function aboutState({
  stored,
  unavailable,
  flipsKnown,
}: Pick<ExplainedState<unknown>, "stored" | "unavailable" | "flipsKnown">): object {
  const { customerId, asOf, configVersion, activeVersion, pending, setAside }: StoredForExplanation = stored;
  return { customerId, asOf, configVersion, activeVersion, pending, setAside, unavailable, flipsKnown };
}
