import Type from "typebox";
import { adminRoute } from "./route.js";
import { count, exact, instant, jsonObject, listOf, named, orNull, superseded, versionName } from "./schemas.js";
import { instantOf } from "../request/instants.js";
import { environmentQuery, listQuery, nameFilter, sinceFilter, includeSuperseded } from "./parameters.js";

const RESULTS = ["pass", "fail", "skip", "error"] as const;

export const triggeredBy = Type.String({ examples: ["event:login", "segment.entered:paying"] });
export const conditions = jsonObject("The result of the condition, part by part.");

export const ruleExecution = named("RuleExecution", {
  customerId: Type.String(),
  ruleId: Type.String(),
  result: Type.Enum([...RESULTS]),
  triggeredBy,
  executedAt: instant,
  cause: exact({ type: Type.Enum(["event", "identify", "timer", "job"]), id: orNull(Type.String()) }),
  configVersion: orNull(versionName),
  error: orNull(Type.String(), "Why it could not be run, if the result is `error`."),
  emissionId: orNull(Type.String({ examples: ["emi_0000000000000400"] }), "The id of its emission, if it is known."),
  conditions: Type.Optional(jsonObject("The result of the condition, part by part; with `detail=true`.")),
  action: Type.Optional(jsonObject("The action of the rule when it passes; with `detail=true`.")),
  superseded: Type.Optional(superseded),
});

export const ruleCounts = named("RuleCounts", "How often rules ran.", {
  since: instant,
  rules: Type.Array(
    exact({
      ruleId: Type.String(),
      pass: count,
      fail: count,
      skip: count,
      error: count,
      more: Type.Array(Type.Enum([...RESULTS]), {
        description:
          "Results whose count is incomplete: for each result only the newest executions are counted, at most 1,000.",
      }),
    }),
    { description: "The rules of the active version, in the author's order." },
  ),
});

/** The log of rule executions. */
export const ruleExecutionRoutes = [
  adminRoute("search_rule_executions", "GET /projects/:project/rule-executions", {
    operationId: "listRuleExecutions",
    summary: "List rule executions, the newest first",
    query: exact({
      ...listQuery.properties,
      customer: nameFilter,
      rule: nameFilter,
      result: Type.Optional(Type.Enum([...RESULTS])),
      since: nameFilter,
      detail: Type.Enum(["true", "false"], { default: "false" }),
      superseded: includeSuperseded,
    }),
    answers: { 200: listOf(ruleExecution) },
    passes: ({ at, query }) => {
      const { customer: customerId, rule: ruleId, result, since, detail, superseded } = query;
      const filters = { customerId, ruleId, result };
      return [at, filters, sinceFilter(since), detail === "true", superseded === "true", query];
    },
  }),
  adminRoute("count_rule_executions", "GET /projects/:project/rule-executions/counts", {
    operationId: "countRuleExecutions",
    summary: "Count the executions of each rule since an instant, by result",
    query: exact({
      ...environmentQuery.properties,
      since: nameFilter,
    }),
    answers: { 200: ruleCounts },
    passes: ({ at, query: { since = "7d" } }) => [at, instantOf(since, "since")],
  }),
];
