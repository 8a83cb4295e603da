import Type from "typebox";
import * as calls from "../../db/api/customers.js";
import { listQuery, nameFilter, placeIn, sinceOf } from "./parameters.js";
import { adminRoute } from "./route.js";
import { exact, instant, jsonObject, listOf, orNull, version } from "./schemas-common.js";

const RESULTS = ["pass", "fail", "skip", "error"] as const;

const ruleExecution = exact(
  {
    customerId: Type.String(),
    ruleId: Type.String(),
    result: Type.Enum([...RESULTS]),
    triggeredBy: Type.String({ examples: ["event:login", "segment.entered:paying"] }),
    executedAt: instant,
    cause: exact({ type: Type.Enum(["event", "identify", "timer", "job"]), id: orNull(Type.String()) }),
    configVersion: orNull(version),
    error: orNull(Type.String(), "Why it could not be run, where the result is error."),
    conditions: Type.Optional(jsonObject("How the condition came out, part by part; with `detail=true`.")),
    action: Type.Optional(jsonObject("What the rule does when it passes; with `detail=true`.")),
  },
  { title: "RuleExecution" },
);

/**
 * The log of the rules in each customer's newest history. A page of rare filters may be short, even empty, and nextCursor go on all the
 * same.
 */
export const listRuleExecutionsRoute = adminRoute({
  operation: "list_rule_executions",
  method: "GET",
  path: "/projects/:project/rule-executions",
  summary: "The log of the rules, newest first",
  query: Type.Object(
    {
      ...listQuery.properties,
      customer: nameFilter,
      rule: nameFilter,
      result: Type.Optional(Type.Enum([...RESULTS])),
      since: nameFilter,
      detail: Type.Enum(["true", "false"], { default: "false" }),
    },
    { additionalProperties: false },
  ),
  answers: { 200: listOf(ruleExecution) },
  answer: async ({ deps, credentials, params, query: { env, customer, rule, result, since, detail, ...page } }) => {
    const filters = {
      customer,
      rule,
      result,
      since: since === undefined ? undefined : sinceOf(since, "since"),
      detail: detail === "true",
    };
    const place = placeIn(params, env);
    return { status: 200, document: await calls.listRuleExecutions(deps.sql, credentials, place, filters, page) };
  },
});
