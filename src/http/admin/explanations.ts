import {
  beginExplanation,
  explanationHistory,
  explanationSnapshot,
  type ExplainedPart,
} from "../../db/calls-explanation.js";
import { onSnapshot } from "../../db/transaction.js";
import type { ExplainQuestions } from "./explain-stored.js";
import { environmentQuery, placeIn } from "./parameters.js";
import { adminRoute, type AdminCall, type Answer } from "./route.js";
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
  answer: (call) => explanation(call, "health"),
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
  answer: (call) => explanation(call, "customer"),
});

type ExplanationCall = Pick<AdminCall<typeof environmentQuery, never>, "deps" | "credentials" | "params" | "query">;

/** Reads on one snapshot of the database what a thread explains. */
async function explanation(
  { deps: { work }, credentials, params, query }: ExplanationCall,
  part: ExplainedPart,
): Promise<Answer> {
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
