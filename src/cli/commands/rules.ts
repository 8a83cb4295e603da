import type { Action } from "../../model/snapshot/types.js";
import type { Explanation, RuleExecution } from "../../http/admin/answers.js";
import { readList } from "../client/pages.js";
import { csvPageOptions, defineCommand, projectOptions, supersededOption } from "../core/command.js";
import { sinceOption } from "../core/values.js";
import type { Out } from "../output/out.js";
import { noteMore, page, printCsv, recordColumn } from "../output/table.js";
import { causeInWords, printable } from "../../words/text.js";
import { explanationInWords } from "./customers/explanation.js";

export default defineCommand({
  options: {
    ...projectOptions,
    customer: { type: "text", describe: "Only those for this customer" },
    rule: { type: "text", describe: "Only those of this rule" },
    result: {
      type: "text",
      choices: ["pass", "fail", "skip", "error"],
      describe:
        "Only those with this result: pass (it acted), fail (its condition was unmet), skip (it pauses) or error",
    },
    since: {
      type: "text",
      describe: "Only runs on what happened since, whenever it was sent: how long ago, such as 7d, or an ISO date",
    },
    detail: { type: "flag", describe: "Show which conditions were met, and what the rule does" },
    ...supersededOption,
    ...csvPageOptions,
  },
  examples: [
    ["svc rules logs --rule upsell --result fail --detail", "Why a rule did not act"],
    ["svc rules logs --customer cus_42 --since 7d", "What rules did for a customer in the last week"],
    [
      "svc rules logs --customer cus_42 --superseded",
      "Also runs that a recompute has replaced, which may have been delivered",
    ],
  ],
  async handler({ api, out }, { customer, rule, result, since: from, detail, superseded, limit, cursor, csv }) {
    const since = sinceOption("--since", from);
    const query = { customer, rule, result, since, detail, superseded, limit, cursor };
    if (csv) return printCsv({ api, out }, query, ["rule-executions"]);
    const answer = await readList<RuleExecution>(api, ["rule-executions"], query);
    const runs = answer.data.data;
    const none = "There is no such run of a rule.";
    if (detail) {
      const words = await Promise.all(runs.map((run) => runInWords(out, run)));
      out.result(answer, () => words.join("\n\n") || none);
      noteMore(out, answer.data);
      return;
    }
    const paint = (text: string, run: RuleExecution) => outcomeIn(out, run, text);
    page(out, answer, {
      none,
      columns: [
        { title: "At", value: ({ executedAt }) => out.at(executedAt), fixed: true },
        { title: "Customer", value: ({ customerId }) => customerId },
        { title: "Rule", value: ({ ruleId }) => ruleId },
        { title: "Result", value: (run) => run.result, fixed: true, style: paint },
        { title: "Triggered by", value: ({ triggeredBy }) => triggeredBy },
        { title: "Model", value: ({ configVersion }) => configVersion ?? "", optional: true },
        ...recordColumn<RuleExecution>(superseded),
        ...(runs.some(({ error }) => error !== null)
          ? [{ title: "Error", value: ({ error }: RuleExecution) => error ?? "" }]
          : []),
      ],
    });
  },
});

/** A text in the colour of a run's result. */
function outcomeIn({ style }: Out, { result }: RuleExecution, text: string): string {
  return { pass: style.green, fail: style.yellow, skip: style.dim, error: style.red }[result](text);
}

const OUTCOMES = {
  pass: "it acted",
  fail: "its condition was unmet",
  skip: "it pauses after it acted before",
  error: "it could not be run",
} as const;

/** A run with its trigger, its condition's result, and what the rule does when it passes. */
export async function runInWords(out: Out, run: RuleExecution): Promise<string> {
  // Imported here: help texts must not wait for the module that puts models into words.
  const { actionText } = await import("../../model/snapshot/words.js");
  const { bold, dim, red } = out.style;
  const { customerId, ruleId, result, triggeredBy, executedAt, cause } = run;
  const { configVersion, error, conditions, action, superseded } = run;
  const triggered = `triggered by ${triggeredBy} (${causeInWords(cause)})`;
  const does = () => {
    const { type, eventType, ...rest } = action!;
    return actionText({ ...rest, kind: type, ...(eventType === undefined ? {} : { type: eventType }) } as Action);
  };
  return [
    `${out.at(executedAt)}  ${bold(printable(ruleId))} for ${printable(customerId)}: ` +
      `${outcomeIn(out, run, result)}, ${OUTCOMES[result]}${superseded === true ? "; a recompute has replaced this record" : ""}`,
    `  ${dim(printable(triggered + (configVersion === null ? "" : `, ${configVersion}`)))}`,
    ...(error === null ? [] : [`  ${red(printable(error))}`]),
    ...(conditions && "kind" in conditions ? [explanationInWords(out, conditions as unknown as Explanation)] : []),
    ...(action === undefined ? [] : [`  ${result === "pass" ? "did" : "would"}: ${printable(does())}`]),
  ].join("\n");
}
