/** A run of a rule in words. */
import type { Action } from "../../../model/snapshot/types.js";
import type { Explanation, RuleExecution } from "../../../http/admin/answers.js";
import type { Out } from "../../output/out.js";
import { causeInWords, printable } from "../../../words/text.js";
import { explanationInWords } from "../customers/explanation.js";

/** A text in the colour of how a run ended. */
export function outcomeIn({ style }: Out, { result }: RuleExecution, text: string): string {
  return { pass: style.green, fail: style.yellow, skip: style.dim, error: style.red }[result](text);
}

const OUTCOMES = {
  pass: "it acted",
  fail: "its condition was unmet",
  skip: "it rests after it acted before",
  error: "it could not be run",
} as const;

/** A run with what triggered it, how its condition came out, and what the rule does when it passes. */
export async function runInWords(out: Out, run: RuleExecution): Promise<string> {
  // Not above: the help of this command must not wait for what puts models into words.
  const { actionText } = await import("../../../model/snapshot/words.js");
  const { bold, dim, red } = out.style;
  const {
    customerId,
    ruleId,
    result,
    triggeredBy,
    executedAt,
    cause,
    configVersion,
    error,
    conditions,
    action,
    superseded,
  } = run;
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
