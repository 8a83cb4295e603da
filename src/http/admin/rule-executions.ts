import Type from "typebox";
import { listQuery, nameFilter, sinceFilter } from "./parameters.js";
import { adminRoute } from "./route.js";
import { exact, instant, jsonObject, listOf, orNull, version } from "./schemas-common.js";

const RESULTS = ["pass", "fail", "skip", "error"] as const;

export const ruleExecution = exact(
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

/** The log of the rules. */
export const ruleExecutionRoutes = [
  // In each customer's newest history. A page of rare filters may be short, even empty, and nextCursor go on all the same.
  adminRoute({
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
    passes: ({ at, query }) => {
      const { customer, rule, result, since, detail } = query;
      const filters = {
        customerId: customer,
        ruleId: rule,
        result,
        since: sinceFilter(since),
        detail: detail === "true",
      };
      return [at, filters, query];
    },
  }),
];
