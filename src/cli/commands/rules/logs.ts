import type { RuleExecution } from "../../client/answers.js";
import { defineCommand, pageOptions, projectOptions } from "../../core/command.js";
import { sinceOf } from "../../output/duration.js";
import { noteMore, page, readList } from "../../output/list.js";
import { localTime } from "../../output/text.js";

export default defineCommand({
  options: {
    ...projectOptions,
    customer: { type: "text", describe: "Only those for this customer" },
    rule: { type: "text", describe: "Only those of this rule" },
    result: {
      type: "text",
      choices: ["pass", "fail", "skip", "error"],
      describe: "Only those that ended so: pass (it acted), fail (its condition was unmet), skip (it rests) or error",
    },
    since: { type: "text", describe: "Only those since: how long ago, such as 7d, or an ISO date" },
    detail: { type: "flag", describe: "Show how each condition came out, and what the rule does" },
    ...pageOptions,
  },
  examples: [
    ["svc rules logs --rule upsell --result fail --detail", "Why a rule did not act"],
    ["svc rules logs --customer cus_42 --since 7d", "What rules did for a customer in the last week"],
  ],
  async handler({ api, out }, { customer, rule, result, since, detail, limit, cursor }) {
    const query = {
      customer,
      rule,
      result,
      since: sinceOf("--since", since),
      detail: detail ? "true" : undefined,
      limit,
      cursor,
    };
    const answer = await readList<RuleExecution>(api, ["rule-executions"], query);
    const none = "There is no such run of a rule.";
    const { outcomeIn, runInWords } = await import("./rule-runs.js");
    if (detail) {
      const runs = answer.data.data;
      out.result(answer, () => (runs.length === 0 ? none : runs.map((run) => runInWords(out, run)).join("\n\n")));
      noteMore(out, answer.data);
      return;
    }
    page(out, answer, {
      none,
      columns: [
        { title: "At", value: ({ executedAt }) => localTime(executedAt, out.timeZone), fixed: true },
        { title: "Customer", value: ({ customerId }) => customerId },
        { title: "Rule", value: ({ ruleId }) => ruleId },
        {
          title: "Result",
          value: ({ result }) => result,
          fixed: true,
          style: (text, run) => outcomeIn(out, run, text),
        },
        { title: "Triggered by", value: ({ triggeredBy }) => triggeredBy },
        { title: "Model", value: ({ configVersion }) => configVersion ?? "", optional: true },
        ...(answer.data.data.some(({ error }) => error !== null)
          ? [{ title: "Error", value: ({ error }: RuleExecution) => error ?? "" }]
          : []),
      ],
    });
  },
});
